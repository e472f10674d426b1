// Flows that move side by side: how fast each is, and which end next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/platform/routes.h"

namespace syncline {

// Max-min fairness: flows share each link equally, and a flow that a narrower link holds back
// leaves its rest to the others. A FATPIPE link limits each flow by itself. Thousands of flows cost
// little:
// - Flows over the same links that can be full form a group. They have one rate, so they end in the
//   order of what the group has carried by then, and rates are worked out for groups only.
// - A link cannot be full if each of its flows also crosses a narrower link and these links
//   together carry no more than it, or if its flows would not fill it at the rate of the fastest
//   flow.
// - Groups that share no link that can be full, directly or through others, have nothing to do with
//   each other: when a flow begins or ends, rates change in its own set of groups only. Sets are
//   kept; a set that may have come apart is looked through once a quarter of its groups has left.
class LinkShares {
 public:
  explicit LinkShares(Routes& routes) : routes_(routes) {}

  // Begins a flow of more than 0 bytes. The route must stay where it is, and have a link.
  void add(const Route& route, double bytes, int number);
  double next_end_s();  // seconds until the next flow ends; infinite if there is none
  // Lets these seconds pass, at most until the next flow ends. Returns the numbers of the flows
  // that have ended, in the order in which they were added.
  std::vector<int> pass(double seconds);
  // From now on the link, an index into Routes::links(), carries this; until the first call its
  // mean bandwidth.
  void set_bandwidth(int link, double Bps);
  bool is_idle() const { return free_.size() == flows_.size(); }
  double updates() const { return updates_; }  // steps of working out rates, so far

 private:
  struct Flow {
    int path = 0;
    std::size_t place = 0;  // in its path's flows
    double bytes = 0;
    double end_bytes = 0;  // Rate::carried of its group when it ends
    int number = 0;
    std::int64_t order = 0;  // in which it was added
    int moves = 0;           // to other groups
  };
  // Flows of one route.
  struct Path {
    const Route* route;
    std::vector<std::size_t> homes;  // by link of the route: place in Link::homes
    std::vector<int> flows;
    int group = -1;
    std::vector<std::pair<std::uint64_t, int>> groups;  // by which of its links may be full
  };
  // The flows of a link that also cross this narrower link, which holds them back first; the link
  // itself: no other link does.
  struct Home {
    int link;
    int flows = 0;
  };
  struct Link {
    double Bps = -1;  // not known yet
    int flows = 0;
    std::vector<Home> homes;
    std::vector<int> home_of;  // links that have this one among their homes
    double homes_Bps = 0;      // what the links that bound its flows carry together
    int unbounded = 0;         // flows that no other link bounds
    std::vector<int> paths;
    bool may_be_full = false;
    std::vector<int> groups;  // that have flows; they are of one set
    std::size_t place = 0;    // in Set::links
  };
  struct End {
    double end_bytes;
    double near_end;  // its flow has ended when Rate::carried reaches this
    std::int64_t order;
    int flow;
    int moves;  // of the flow, by then
    bool operator>(const End& other) const {
      return std::pair(end_bytes, order) > std::pair(other.end_bytes, other.order);
    }
  };
  struct Group {
    std::vector<int> links;           // that may be full, in the order of their numbers
    std::vector<std::size_t> places;  // in Link::groups of each
    std::size_t place = 0;            // in Set::groups
    std::vector<End> ends;            // a heap; ends of flows that have left stay in it
  };
  // What is read and written whenever a flow begins or ends, by group.
  struct Rate {
    double flow_Bps;  // at most
    int first_link;   // its links are in crossed_, from here to the end
    int end_link;
    double Bps = 0;  // of each flow
    // Bytes that a flow present since the group became active had carried by Set::since_s; a flow
    // ends when this reaches its end_bytes.
    double carried = 0;
    double next_end = 0;  // end_bytes of the flow that ends next
    double near_end = 0;  // that flow has ended when `carried` reaches this
    int flows = 0;
    int set = -1;    // -1: it has no flows
    int number = 0;  // Set::number for which its rate was worked out
  };
  // Groups that share links that can be full, directly or through others.
  struct Set {
    std::vector<int> groups;
    std::vector<int> links;  // that may be full
    int limited = 0;         // groups whose flows have a limit of their own (Rate::flow_Bps)
    int left = 0;            // groups that have left since it was looked through
    double since_s = 0;      // since when they have had their rates, and `carried` is of this time
    double fastest_Bps = 0;  // rate of its fastest flow
    double next_s = 0;       // seconds from since_s until its next flow ends
    int number = 0;          // of all times that rates were worked out; 0: they are to be
  };
  struct SetEnd {
    double end_s;  // when its next flow ends
    int set;
    int number;  // Set::number by then
    bool operator>(const SetEnd& other) const { return end_s > other.end_s; }
  };
  // Likewise, by link.
  struct Rest {
    double Bps = 0;
    double waiting = 0;    // flows that have no rate yet
    double share_Bps = 0;  // of each of these
  };

  // Takes an element out of a list whose elements know their places; `placed` tells the last one
  // its new place.
  template <class Element, class Placed>
  static void take_out(std::vector<Element>& list, std::size_t place, Placed placed) {
    list[place] = list.back();
    list.pop_back();
    if (place < list.size())
      placed(list[place], place);
  }

  int path_of(const Route& route);
  Link& known_link(int link);
  int home_on(const std::vector<int>& route, std::size_t place) const;
  // A flow of this path begins (1) or has ended (-1).
  void count(int path, int flows);
  void reconsider(Link& link);
  double flow_Bps(const Path& path) const;  // what windows and FATPIPE links leave to each flow
  int group_of(Path& path);
  void move_to_its_group(int path);
  // A group gets its first flow, or has lost its last one; its set is to be changed, too.
  void activate(int group);
  void deactivate(int group);
  double carried_now(int group) const;  // Rate::carried at now_s_
  void push_end(int group, int flow);
  static void pop_end(Group& group);
  bool has_left(const End& end) const;  // its flow has ended, or is in another group
  void find_next_end(int group);
  void end(int flow);
  int new_set();
  void join(int set, int group);
  void join_link(int set, int link);
  void leave(int group);
  void free_set(int set);
  int merge(int one, int other);  // returns the set that has the groups of both
  void split(int set);            // into sets that share no link that can be full
  void change(int set);           // lets its rates be worked out
  void carry(Set& set);           // brings `carried` of its groups to now_s_
  void share();
  // Works out the rates of a set, as if only links with may_be_full could hold flows back.
  void fill(int set);
  void fill_links(Set& set);
  bool is_over(const SetEnd& end) const;  // its set has other rates by now, or is to have
  void drop_what_is_over();               // so that the first of set_ends_ is not over
  // Sets fastest_Bps_ so that no flow is faster, and looks at all links again.
  void expect_fastest(double Bps);
  // Fills narrowest_ with links whose waiting flows have the least each, and returns that.
  double find_narrowest();
  // `filled`: the link that this rate fills, or -1.
  void give_rate(Set& set, int group, double Bps, int filled);

  Routes& routes_;
  std::vector<Flow> flows_;
  std::vector<int> free_;  // of these
  std::vector<Path> paths_;
  std::unordered_map<const Route*, int> path_at_;
  std::vector<Link> links_;
  std::vector<Rest> rests_;  // by link
  std::vector<Group> groups_;
  std::vector<Rate> rates_;                      // by group
  std::vector<int> crossed_;                     // links of all groups
  std::vector<int> open_, limited_, narrowest_;  // while rates are worked out: links, groups, links
  std::map<std::pair<double, std::vector<int>>, int> group_at_;
  std::vector<int> changed_;  // sets whose rates are to be worked out; some are free by now
  std::vector<Set> sets_;
  std::vector<int> free_sets_;
  std::vector<SetEnd> set_ends_;  // a heap; ends of sets with other rates stay in it
  int numbers_ = 0;               // of sets, so far
  int looked_ = 0;                // sets filled since all of them were looked at
  double fastest_Bps_ = 0;        // no flow is faster, once rates are worked out
  double now_s_ = 0;              // seconds that have passed
  std::int64_t added_ = 0;
  double updates_ = 0;
};

}  // namespace syncline
