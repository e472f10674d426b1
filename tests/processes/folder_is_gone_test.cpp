// The program is started in a folder that has been deleted meanwhile.
#include <gtest/gtest.h>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

TEST(WorkingDirectory, ThatIsGoneIsSaidAndSimGridNotBlamed) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"run", "--platform", "two-hosts", "--model", "resnet20", "--throughput", "920"},
           {"explain", "--platform", "two-hosts", "--model", "resnet20", "--throughput", "920"},
           {"check", "."},
           {"report", "out"},
           {"validate", "."}}) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.path("gone"));
    const Ended ended = run_program(arguments, folder.path("gone"),
                                    [&] { std::filesystem::remove(folder.path("gone")); });
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1) << ended.err;
    expect_mentions(ended.err, {"the working directory is gone"});
    EXPECT_EQ(ended.err.find("SimGrid"), std::string::npos) << ended.err;
    EXPECT_TRUE(listing_of(folder.path()).empty());
  }
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("gone"));
  EXPECT_EQ(run_program({"help", "worker"}, folder.path("gone"),
                        [&] { std::filesystem::remove(folder.path("gone")); })
                .code,
            0);
}

}  // namespace
}  // namespace syncline
