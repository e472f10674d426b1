#include "kernels/io/whole_file.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace syncline {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw std::runtime_error(path + ": cannot be written: " + reason);
}

[[noreturn]] void refuse(const std::string& path, int error) {
  refuse(path, std::string(std::strerror(error)));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0)
      close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }

  operator int() const { return number_; }

 private:
  int number_;
};

// `path` leads to `target`, which is replaced as a whole or not at all.
struct Place {
  std::string path;      // as the user wrote it, for messages
  fs::path target = {};  // after following all links
  fs::path folder = {};
  bool exists = false;
  bool in_place = false;
};

Place place_of(const std::string& path) {
  Place place{.path = path, .target = path};
  std::error_code error;
  bool opened_elsewhere = false;
  for (int links = 0; fs::is_symlink(fs::symlink_status(place.target, error)); ++links) {
    if (links == 40)
      refuse(path, ELOOP);
    // For example /dev/stdout and /dev/fd/63: the targets of these links need not be names.
    const fs::path folder = fs::weakly_canonical(place.target.parent_path(), error);
    opened_elsewhere = folder.string().starts_with("/proc/");
    if (opened_elsewhere)
      break;
    place.target = place.target.parent_path() / fs::read_symlink(place.target, error);
  }
  const fs::file_status status =
      fs::status(opened_elsewhere ? fs::path(path) : place.target, error);
  if (!fs::status_known(status))
    refuse(path, error.value());
  if (fs::is_directory(status))
    refuse(path, EISDIR);
  if (opened_elsewhere && fs::is_regular_file(status))
    refuse(path, "it is a link to a file that is open elsewhere: give the file's own name");
  place.exists = fs::exists(status);
  place.in_place = place.exists && !fs::is_regular_file(status);
  if (place.in_place)
    place.target = path;
  place.folder = place.target.has_parent_path() ? place.target.parent_path() : fs::path(".");
  if (place.exists && access(place.target.c_str(), W_OK) != 0)
    refuse(path, errno);
  return place;
}

using Writing = std::function<void(std::ostream&)>;

// A stream buffer for an open file. Keeps the first write error, which a std::ostream would not
// report.
class Sink : public std::streambuf {
 public:
  explicit Sink(int file) : file_(file), buffer_(1 << 16) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }
  // Returns 0, or the first error.
  int flush() {
    for (char* next = pbase(); error_ == 0 && next < pptr();) {
      const ssize_t written = write(file_, next, static_cast<std::size_t>(pptr() - next));
      if (written < 0 && errno != EINTR)
        error_ = errno;
      next += written > 0 ? written : 0;
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return error_;
  }

 protected:
  int_type overflow(int_type next) override {
    if (flush() != 0)
      return traits_type::eof();
    return traits_type::eq_int_type(next, traits_type::eof()) ? traits_type::not_eof(next)
                                                              : sputc(static_cast<char>(next));
  }

 private:
  int file_;
  int error_ = 0;
  std::vector<char> buffer_;
};

void write_all(int file, const Writing& writing, const std::string& path) {
  Sink sink(file);
  std::ostream stream(&sink);
  writing(stream);
  if (const int error = sink.flush(); error != 0)
    refuse(path, error);
}

void write_in_place(const Place& place, const Writing& text) {
  // A pipe without a reader is an error at once, instead of something to wait for.
  const Descriptor file(open(place.target.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file < 0)
    refuse(place.path, errno);
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  write_all(file, text, place.path);
}

// A name for an unfinished file, in a folder of ours that is removed when it is empty.
class UnfinishedName {
 public:
  explicit UnfinishedName(const Place& place) : folder_(place.folder / unfinished_folder) {
    choose();
  }
  ~UnfinishedName() {
    if (given_)
      unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  UnfinishedName(const UnfinishedName&) = delete;
  UnfinishedName& operator=(const UnfinishedName&) = delete;

  // Makes the folder and lets `give` make the file; retries, because another run may just have
  // removed the folder.
  template <class Give>
  bool give(const Give& give) {
    for (int tries = 0; !given_ && tries < 100; ++tries) {
      if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST)
        return false;
      given_ = give(path_.c_str());
      if (!given_ && errno == EEXIST)  // another machine may have a process of this number
        choose();
      else if (!given_ && errno != ENOENT)
        return false;
    }
    return given_;
  }
  bool becomes(const fs::path& target) {
    if (std::rename(path_.c_str(), target.c_str()) != 0)
      return false;
    given_ = false;
    return true;
  }

 private:
  void choose() {
    static int made = 0;
    std::error_code error;
    do  // a killed run may have left this name
      path_ = folder_ / ("unfinished-" + std::to_string(getpid()) + "-" + std::to_string(++made));
    while (fs::exists(fs::symlink_status(path_, error)));
  }

  fs::path folder_;
  fs::path path_;
  bool given_ = false;
};

void fill(const Descriptor& file, const Place& place, const Writing& text) {
  flock(file, LOCK_EX | LOCK_NB);  // tells remove_unfinished that the file is in use
  write_all(file, text, place.path);
  struct stat old = {};
  if (place.exists && stat(place.target.c_str(), &old) == 0)
    fchmod(file, old.st_mode & 07777);
  if (fsync(file) != 0)  // some file systems report only here that they are full
    refuse(place.path, errno);
}

// A file without a name disappears when it is closed, however the program ends. -1 if not
// supported.
Descriptor nameless_in(const Place& place) {
  Descriptor file(open(place.folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (file < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
    refuse(place.path, errno);
  return file;
}

Descriptor named_in(const Place& place, UnfinishedName& name) {
  int file = -1;
  if (!name.give([&](const char* path) {
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        return file >= 0;
      }))
    refuse(place.path, errno == ENOTDIR ? unfinished_folder + " beside it is not a folder"
                                        : std::string(std::strerror(errno)));
  return Descriptor(file);
}

// Gives the file its name; false if this system cannot.
bool publish(const Descriptor& nameless, const Place& place) {
  const std::string open_file = "/proc/self/fd/" + std::to_string(nameless);
  const auto link_to = [&](const char* path) {
    return linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
  };
  if (access(open_file.c_str(), F_OK) != 0)
    return false;
  if (link_to(place.target.c_str()))
    return true;
  if (errno != EEXIST)
    return false;
  UnfinishedName name(place);  // linking cannot replace a file, renaming can
  return name.give(link_to) && name.becomes(place.target);
}

}  // namespace

void write_atomically(const std::string& path, const std::string& text) {
  write_atomically(path, [&](std::ostream& out) { out << text; });
}

void write_atomically(const std::string& path, const Writing& text) {
  const Place place = place_of(path);
  if (place.in_place) {
    write_in_place(place, text);
    return;
  }
  if (const Descriptor nameless = nameless_in(place); nameless >= 0) {
    fill(nameless, place, text);
    if (publish(nameless, place))
      return;
  }
  UnfinishedName name(place);
  const Descriptor file = named_in(place, name);
  fill(file, place, text);
  if (!name.becomes(place.target))
    refuse(path, errno);
}

FileLock::FileLock(const std::string& path) : path_(path) {
  if (place_of(path).in_place)
    return;
  do {
    if (file_ >= 0)  // another process has replaced it meanwhile
      close(file_);
    made_ = true;
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0 && errno == EEXIST) {
      made_ = false;
      file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    }
    if (file_ < 0)
      refuse(path, errno);
    while (flock(file_, LOCK_EX) != 0)
      if (errno != EINTR)
        return;  // the file system has no locks
  } while (!is_there());
}

FileLock::~FileLock() {
  if (file_ < 0)
    return;
  struct stat mine = {};
  if (made_ && is_there() && fstat(file_, &mine) == 0 && mine.st_size == 0)
    unlink(path_.c_str());
  close(file_);
}

bool FileLock::is_there() const {
  struct stat mine = {}, there = {};
  return fstat(file_, &mine) == 0 && stat(path_.c_str(), &there) == 0 &&
         mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

void check_place(const std::string& path) {
  const Place place = place_of(path);
  if (place.in_place)  // opening and closing a pipe would end its reader
    return;
  const Writing page = [](std::ostream& out) { out << std::string(4096, '\n'); };
  if (const Descriptor nameless = nameless_in(place); nameless >= 0) {
    fill(nameless, place, page);
    return;
  }
  UnfinishedName name(place);
  fill(named_in(place, name), place, page);
}

void remove_unfinished(const std::string& folder) {
  const fs::path ours = fs::path(folder) / unfinished_folder;
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(ours, error)))
    return;
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(ours, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("unfinished-") && fs::is_regular_file(entry.symlink_status(error)) &&
        std::all_of(name.begin() + 11, name.end(),
                    [](unsigned char c) { return c == '-' || std::isdigit(c) != 0; }))
      left.push_back(entry.path());
  }
  for (const fs::path& path : left) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
      fs::remove(path, error);
  }
  rmdir(ours.c_str());
}

}  // namespace syncline
