// What the reference knows of time: happenings that wait for one another, and messages that share
// links. Nothing here comes from sim/engine/ or SimGrid: rates are by water filling, so that links
// are shared as the textbook (Bertsekas and Gallager, Data Networks, 6.5.2) says.
#pragma once

#include <functional>
#include <vector>

namespace syncline::reference {

// From one host to another.
struct Way {
  double latency_s = 0;
  double flow_Bps = 0;     // what links that share nothing leave to each flow by itself
  std::vector<int> links;  // shared by all flows that cross them
  bool same_host = false;  // nothing is sent
};

// A graph of happenings: each begins when all that it needs have happened. A message is two of
// them: a flow, which ends when its sender has injected it, and a delay of the way's latency, which
// ends when it has arrived, whether anybody looks for it or not.
class Happenings {
 public:
  using Id = int;

  explicit Happenings(std::vector<double> link_Bps) : link_Bps_(std::move(link_Bps)) {}

  Id when_all(const std::vector<Id>& needs = {});
  Id delay(Id after, double seconds);
  Id flow(Id after, const Way& way, double bytes);  // the way must live as long as this
  // Seconds of something that does one thing at a time, first come, first served.
  Id turn(Id after, int of, double seconds);
  void require(Id later, Id earlier);
  // Does not happen before it is let go, once, when told of something.
  Id held();
  void let_go(Id id);
  // Calls this when it happens, before what needs it begins.
  void tell(Id id, std::function<void()> told);

  // Until nothing is left to happen. Throws std::logic_error if something waits for ever.
  void run();
  double now_s() const { return now_s_; }
  double at(Id id) const { return happenings_[static_cast<std::size_t>(id)].at_s; }

 private:
  enum class Kind { join, delay, flow, turn };
  struct Happening {
    Kind kind = Kind::join;
    double amount = 0;  // seconds or bytes
    const Way* way = nullptr;
    int of = 0;
    int waits_for = 0;
    double at_s = -1;
    std::vector<Id> later = {};
  };
  struct Flow {
    Id id = 0;
    double left = 0;  // bytes
    double Bps = 0;
    const Way* way = nullptr;
  };

  Id add(Happening happening, const std::vector<Id>& needs);
  void begin(Id id);
  void happened(Id id);
  void share();

  std::vector<double> link_Bps_;
  std::vector<Happening> happenings_;
  std::vector<std::pair<Id, std::function<void()>>> told_;
  std::vector<Id> begun_;                      // to be begun at this moment
  std::vector<std::pair<double, Id>> alarms_;  // a heap: delays and turns that will end
  std::vector<std::vector<Id>> queues_;        // of each thing that takes turns; the first is on
  std::vector<Flow> flows_;
  bool flows_changed_ = false;
  double now_s_ = 0;
};

}  // namespace syncline::reference
