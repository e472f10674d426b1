// A process in which no file system can keep files without a name, like some network file systems,
// or none accepts new files, like a read-only one.
#pragma once

#include <cerrno>
#include <cstddef>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace syncline {

// From here on, this process's open() fails with any of these flags.
inline void refuse_opening_with(unsigned flags, unsigned error) {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
                          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
                          BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program{.len = std::size(filter), .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(126);
}

constexpr unsigned open_nameless = 020000000;  // O_TMPFILE without O_DIRECTORY, which it includes
constexpr unsigned open_new = 0100;            // O_CREAT

inline void refuse_nameless_files() {
  refuse_opening_with(open_nameless, EOPNOTSUPP);
}

inline void refuse_new_files() {
  refuse_opening_with(open_nameless | open_new, EROFS);
}

}  // namespace syncline
