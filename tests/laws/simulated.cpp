#include "tests/laws/simulated.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sstream>
#include <utility>

#include "kernels/compressor.h"
#include "sim/clock/averaging.h"
#include "sim/clock/lower_bounds.h"
#include "sim/engine/estimate.h"
#include "sim/engine/fidelity.h"
#include "sim/engine/simulation.h"
#include "sim/options/expand.h"
#include "sim/options/resolve.h"
#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/schedule.h"
#include "sim/setup/setup.h"
#include "sim/sweep/one_worker.h"
#include "sim/sweep/process.h"
#include "sim/traces/traces.h"
#include "tests/laws/packed_trace.h"

namespace syncline {
namespace {

std::string temporary_file(const std::string& name) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("syncline-laws-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  static int number = 0;
  return (folder / (std::to_string(number++) + name)).string();
}

std::string predictions(const Scenario& scenario) {
  const Setup setup = prepare(scenario, read_platform(scenario));
  Routes routes = setup.traffic.cluster.routes();
  std::ostringstream out;
  const std::optional<Averaging> known = averaging(setup, routes);
  const std::vector<LinkLoad> links = link_loads(setup, routes);
  const LowerBounds lower = lower_bounds(setup, routes, links);
  out << number(lower.all_s()) << ' '
      << (links.empty() ? "none" : routes.links()[index(links.front().link)].name) << ' '
      << (known && known->exchange.about) << ' ' << number(known ? known->exchange.exchange_s() : 0)
      << ' ' << number(known ? known->iteration_s.value_or(0) : 0) << ' '
      << number(known ? known->without_overlap_s.value_or(0) : 0) << ' ';
  if (known && known->even) {
    const BreakEven& even = *known->even;
    out << number(even.dense_iteration_s) << ' ' << even.known;
    for (const auto* ranges : {&even.without_overlap, &even.with_overlap}) {
      out << ' ' << ranges->size();
      for (const auto& [from, to] : *ranges)
        out << ' ' << number(from) << ' ' << number(to);
    }
    out << '\n';
  } else {
    out << "0 1 0 0\n";
  }
  for (const LinkLoad& load : links)
    out << routes.links()[index(load.link)].name << ' ' << number(load.bytes) << '\n';
  return out.str();
}

}  // namespace

std::vector<Row> Simulated::rows(const std::string& verb) const {
  const Verb known = verb_of(verb).value();
  std::vector<Row> found;
  for (const Row& row : trace.rows)
    if (row.verb == known)
      found.push_back(row);
  return found;
}

bool Simulated::below_its_bound() const {
  return std::ranges::any_of(figures.warnings, [](const Warning& warning) {
    return warning.text.find("lower bound") != std::string::npos;
  });
}

std::string written_platform(const std::string& text) {
  const std::string path = temporary_file(".xml");
  std::ofstream(path) << text;
  return path;
}

std::string star_platform(const Star& star) {
  const std::string path = temporary_file(".xml");
  std::ofstream xml(path);
  xml << "<?xml version=\"1.0\"?>\n"
         "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n";
  if (!star.profile.empty())
    xml << "<trace id=\"profile\" periodicity=\"-1\">\n" << star.profile << "\n</trace>\n";
  xml << "<zone id=\"star\" routing=\"Floyd\">\n";
  std::ostringstream hosts;   // and routers, links and routes between these, in each node's zone
  std::ostringstream routes;  // SimGrid needs them after hosts and links
  const auto fatpipe = [&](const std::string& id) {
    return star.fatpipe_nics && id.ends_with("-nic");
  };
  const auto link = [&](std::ostream& out, const std::string& id, double bandwidth_Bps,
                        double latency_s) {
    out << "<link id=\"" << id << "\" bandwidth=\"" << number(bandwidth_Bps) << "Bps\" latency=\""
        << number(latency_s) << "s\" sharing_policy=\"" << (fatpipe(id) ? "FATPIPE" : "SPLITDUPLEX")
        << "\"/>\n";
  };
  const int slow_worker =
      star.slow_worker < 0 ? star.nodes * star.workers_per_node - 1 : star.slow_worker;
  const auto route = [&](const std::string& from, const std::string& to, const std::string& over) {
    routes << "<route src=\"" << from << "\" dst=\"" << to << "\"><link_ctn id=\"" << over
           << (fatpipe(over) ? "\"" : "\" direction=\"UP\"") << "/></route>\n";
  };
  const std::string end = "\"/></host>\n";
  std::ostringstream cards;        // of zones
  std::ostringstream zone_routes;  // of zones
  for (int n = 0; n < star.nodes; ++n) {
    const std::string node = star.prefix + std::to_string(n);
    link(star.zones ? static_cast<std::ostream&>(cards) : hosts, node + "-nic", star.nic_Bps,
         star.nic_latency_s);
    const bool shared = star.workers_per_node > 1 || star.host_Bps > 0 || star.zones;
    if (shared)
      hosts << "<router id=\"" << node << "-root\"/>\n";
    if (star.zones)
      zone_routes << "<zoneRoute src=\"" << node << "\" dst=\"middle\" gw_src=\"" << node
                  << "-root\" gw_dst=\"switch\"><link_ctn id=\"" << node
                  << "-nic\" direction=\"UP\"/></zoneRoute>\n";
    else if (shared)
      route(node + "-root", "switch", node + "-nic");
    for (int w = 0; w < star.workers_per_node; ++w) {
      const std::string host = node + "-gpu" + std::to_string(w);
      const bool slow = n * star.workers_per_node + w == slow_worker;
      hosts << "<host id=\"" << host << "\" speed=\"" << number(1e12 * (slow ? star.slow_speed : 1))
            << "f\" core=\"" << star.cores << "\"><prop id=\"node\" value=\"" << node << end;
      if (shared) {
        link(hosts, host + "-bus", star.bus_Bps,
             star.bus_latency_s + w * star.bus_latency_growth_s);
        route(host, node + "-root", host + "-bus");
      } else {
        route(host, "switch", node + "-nic");
      }
    }
    if (star.host_Bps > 0) {
      hosts << "<host id=\"" << node << "-cpu\" speed=\"1e12f\"><prop id=\"node\" value=\"" << node
            << "\"/><prop id=\"role\" value=\"host" << end;
      link(hosts, node + "-host", star.host_Bps, 0);
      route(node + "-cpu", node + "-root", node + "-host");
    }
    if (star.zones) {
      xml << "<zone id=\"" << node << "\" routing=\"Floyd\">\n"
          << hosts.str() << routes.str() << "</zone>\n";
      hosts.str("");
      routes.str("");
    }
  }
  for (int s = 0; s < star.servers; ++s) {
    const std::string host = "server" + std::to_string(s);
    hosts << "<host id=\"" << host << "\" speed=\"1e12f\"><prop id=\"role\" value=\"server" << end;
    link(hosts, host + "-nic", star.server_nic_Bps > 0 ? star.server_nic_Bps : star.nic_Bps,
         star.nic_latency_s);
    route(host, "switch", host + "-nic");
  }
  const std::string middle = "<router id=\"switch\"/>\n" + hosts.str() + routes.str();
  if (star.zones)
    xml << "<zone id=\"middle\" routing=\"Floyd\">\n" << middle << "</zone>\n";
  else
    xml << middle;
  xml << cards.str() << zone_routes.str();
  if (!star.profile.empty())
    xml << "<trace_connect kind=\"SPEED\" trace=\"profile\" element=\"" << star.prefix
        << star.nodes - 1 << "-gpu" << star.workers_per_node - 1 << "\"/>\n";
  xml << "</zone>\n</platform>\n";
  return path;
}

std::string written_model(const std::string& csv) {
  const std::string path = temporary_file(".csv");
  std::ofstream(path) << csv;
  return path;
}

std::string model_of(const std::vector<std::uint64_t>& parameters) {
  std::ostringstream csv;
  csv << "layer,parameters,forward_flop\n";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    csv << "layer" << i << "," << parameters[i] << ",1000\n";
  return written_model(csv.str());
}

std::string cost_table(double compress_s, double decompress_s, std::optional<double> further_s) {
  const std::string path = temporary_file(".csv");
  std::ofstream csv(path);
  csv << "# device: made up for a law\n# provenance: modelled\n"
         "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution\n";
  for (const std::string& name : Registered<Compressor>::names())
    for (const auto& [operation, slope] :
         {std::pair<std::string, std::optional<double>>("encode", compress_s),
          {"decode", decompress_s},
          {further_operation, further_s}})
      for (const double elements : {1.0, 4294967296.0})
        if (slope)
          csv << name << ",," << operation << ',' << number(elements) << ','
              << number(std::max(*slope * elements, 1e-12)) << ",0,0,0,none\n";
  return path;
}

bool takes(const Schedule& schedule, const std::string& compressor) {
  return compressor == "none"
             ? !schedule.sparsifiers_only
             : schedule.sharding == nullptr && !schedule.has_own_parameters() &&
                   (!schedule.sparsifiers_only || Registered<Compressor>::find(compressor).sparse);
}

std::vector<std::string> exchanges_for(const std::string& compressor) {
  const Compressor& made = Registered<Compressor>::find(compressor);
  std::vector<std::string> names;
  for (const auto& [name, exchange] : Registered<Exchange>::all())
    if (exchange.carries == Exchange::Carries::any ||
        (exchange.carries == Exchange::Carries::sums ? made.reducible : made.sparse))
      names.push_back(name);
  return names;
}

Scenario resolved(Options options) {
  static const std::string table = cost_table(1e-9, 1e-10);
  options.emplace("device", table);
  options.emplace("throughput", "100");
  options.emplace("batch", "10");
  options.emplace("iterations", "10");
  options.emplace("fidelity", "flow");
  options.emplace("repeats", "1");  // laws are about single runs
  // Schedules with shards have units instead of buckets.
  if (const auto schedule = Registered<Schedule>::all().find(
          options.contains("schedule") ? options.at("schedule") : "bsp");
      schedule != Registered<Schedule>::all().end() && schedule->second.sharding != nullptr)
    if (const auto bucket = options.extract("bucket-bytes"); !bucket.empty())
      options.emplace("units", bucket.mapped() == "all" ? "1" : "100000");
  GivenOptions given;
  for (const auto& [key, value] : options)
    if (!value.empty())
      given[key] = {value, "test"};
  return resolve(given);
}

namespace {

Simulated simulated_as(const Scenario& scenario) {
  Simulated result;
  result.trace = unpacked(run_child([&] {
    const PlatformFile platform = read_platform(scenario);
    Setup setup = prepare(with_computation_alone(scenario, platform), platform);
    setup.keep_messages = true;
    choose_fidelity(setup);
    return packed(simulate(setup));
  }));
  result.figures = figures_of(result.trace, scenario.samples());
  return result;
}

}  // namespace

Simulated simulated(Options options) {
  return simulated_as(resolved(std::move(options)));
}

Simulated simulated_section(const std::string& file, const std::string& name, const Options& but) {
  std::vector<Section> sections = parse_sections(file);
  for (Section& section : sections)
    for (const auto& [key, value] : but)
      section.options[key] = {value, "test"};
  for (const Scenario& cell : expand(sections).cells)
    if (cell.written.at("name") == name)
      return simulated_as(cell);
  throw std::runtime_error(file + " has no section " + name);
}

Simulated simulated_by(const Schedule& schedule, Options options) {
  Scenario scenario = resolved(std::move(options));
  scenario.schedule = &schedule;
  return simulated_as(scenario);
}

Simulated simulated_by(const Compressor& compressor, Options options) {
  Scenario scenario = resolved(std::move(options));
  scenario.compressor = &compressor;
  return simulated_as(scenario);
}

namespace {

Predicted predicted_of(const Scenario& scenario) {
  std::istringstream in(run_child([&] { return predictions(scenario); }));
  Predicted result;
  in >> result.bound_s >> result.busiest_link >> result.about >> result.exchange_s >>
      result.iteration_s >> result.without_overlap_s >> result.rival_s >> result.even_known;
  for (auto* ranges : {&result.without_overlap, &result.with_overlap}) {
    std::size_t count = 0;
    in >> count;
    ranges->resize(count);
    for (auto& [from, to] : *ranges)
      in >> from >> to;
  }
  std::string link;
  for (double bytes = 0; in >> link >> bytes;)
    result.link_bytes[link] = bytes;
  return result;
}

}  // namespace

Predicted predicted(Options options) {
  return predicted_of(resolved(std::move(options)));
}

Predicted predicted_by(const Schedule& schedule, Options options) {
  Scenario scenario = resolved(std::move(options));
  scenario.schedule = &schedule;
  return predicted_of(scenario);
}

namespace {

double estimated(const Scenario& scenario, double Need::*of) {
  return std::stod(run_child(
      [&] { return number(estimate(prepare(scenario, read_platform(scenario))).least.*of); }));
}

}  // namespace

double estimated_flows(Options options) {
  return estimated(resolved(std::move(options)), &Need::flows);
}

double estimated_flows_by(const Schedule& schedule, Options options) {
  Scenario scenario = resolved(std::move(options));
  scenario.schedule = &schedule;
  return estimated(scenario, &Need::flows);
}

double estimated_evaluations(Options options) {
  return estimated(resolved(std::move(options)), &Need::evaluations);
}

std::string settled_fidelity(Options options) {
  options["fidelity"] = "auto";
  const Scenario scenario = resolved(std::move(options));
  return run_child([&] {
    Setup setup = prepare(scenario, read_platform(scenario));
    choose_fidelity(setup);
    return fidelity_word(setup);
  });
}

std::string trace_text(const Trace& trace) {
  std::ostringstream text;
  write_csv(trace, text);
  return text.str();
}

}  // namespace syncline
