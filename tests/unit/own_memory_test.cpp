// How much of the machine's memory a container, or a Slurm task, may use.
#include "sim/sweep/own_memory.h"

#include <cmath>
#include <gtest/gtest.h>

#include "tests/unit/folder.h"

namespace syncline {
namespace {

TEST(OwnMemory, IsTheLeastLimitOfTheGroupsThatHoldTheProcess) {
  const TemporaryFolder root;
  root.write("slurm/memory.max", "8000000000\n");
  root.write("slurm/job_7/memory.max", "max\n");
  root.write("slurm/job_7/step_0/memory.max", "3000000000\n");
  root.write("other/memory.max", "1\n");
  const auto of = [&](const std::string& list) { return control_group_bytes(list, root.path()); };
  EXPECT_EQ(of("0::/slurm/job_7/step_0\n"), 3e9);
  EXPECT_EQ(of("0::/slurm/job_7\n"), 8e9);
  EXPECT_EQ(of("0::/slurm/job_7/step_0/task that has none\n"), 3e9);
  EXPECT_TRUE(std::isinf(of("0::/\n")));
}

TEST(OwnMemory, OfAContainerIsThatOfItsOwnRoot) {
  const TemporaryFolder root;
  root.write("memory.max", "500000000\n");
  EXPECT_EQ(control_group_bytes("0::/\n", root.path()), 5e8);
  EXPECT_EQ(control_group_bytes("0::/docker/that/is/not/mounted/here\n", root.path()), 5e8);
}

TEST(OwnMemory, IsAlsoThatOfTheFirstVersionOfControlGroups) {
  const TemporaryFolder root;
  root.write("memory/lxc/memory.limit_in_bytes", "2000000000\n");
  root.write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  const std::string list = "5:cpu,cpuacct:/lxc\n4:memory:/lxc\n1:name=systemd:/lxc\n0::/lxc\n";
  EXPECT_EQ(control_group_bytes(list, root.path()), 2e9);
  EXPECT_GT(control_group_bytes("5:cpu:/lxc\n", root.path()), 1e300);
}

TEST(OwnMemory, OfWhatIsNoListIsUnlimited) {
  for (const char* list : {"", "\n", "x", "0:", "0::", "::::", "0::../../..\n"})
    EXPECT_TRUE(std::isinf(control_group_bytes(list, "/nowhere"))) << list;
  EXPECT_GT(own_memory_bytes(), 1e7);
}

}  // namespace
}  // namespace syncline
