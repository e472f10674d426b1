// The reference's model of time: events that wait for each other, and messages that share links.
// Independent of sim/engine/ and SimGrid: rates follow from water filling, so that links are shared
// as in the textbook (Bertsekas and Gallager, Data Networks, 6.5.2).
#pragma once

#include <functional>
#include <vector>

namespace syncline::reference {

// The route from one host to another.
struct Way {
  double latency_s = 0;
  double flow_Bps = 0;     // limit of each flow from links that share nothing
  std::vector<int> links;  // shared by all flows that cross them
  bool same_host = false;  // nothing is sent
};

// A graph of events ("happenings"): each begins when all that it requires have happened. A message
// is two of them: a flow, which ends when its sender has injected it, and a delay of the route's
// latency, which ends with its arrival, even if nobody is waiting.
class Happenings {
 public:
  using Id = int;

  explicit Happenings(std::vector<double> link_Bps) : link_Bps_(std::move(link_Bps)) {}

  Id when_all(const std::vector<Id>& needs = {});
  Id delay(Id after, double seconds);
  Id flow(Id after, const Way& way, double bytes);  // `way` must outlive this object
  // An activity of `seconds` on something that does one thing at a time, first come, first served.
  Id turn(Id after, int of, double seconds);
  void require(Id later, Id earlier);
  // An event that does not happen before let_go() is called, once, from a tell() function.
  Id held();
  void let_go(Id id);
  // Calls `told` when the event happens, before anything that requires it begins.
  void tell(Id id, std::function<void()> told);

  // Runs until nothing is left. Throws std::logic_error if something waits for ever.
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
  std::vector<Id> begun_;                      // to begin at this moment
  std::vector<std::pair<double, Id>> alarms_;  // heap: ends of delays and turns
  std::vector<std::vector<Id>> queues_;        // for things that take turns; the first is active
  std::vector<Flow> flows_;
  bool flows_changed_ = false;
  double now_s_ = 0;
};

}  // namespace syncline::reference
