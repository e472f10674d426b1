#!/usr/bin/env python3
"""Writes the platforms whose XML is too repetitive to type, and holds the provenance of their numbers.

    generate.py           rewrites the files beside this script
    generate.py --check   changes nothing; exit code 1 when a file differs

Every number stands once, below, with its source and one of three words:
  published   somebody measured it, or ships it in a program that relies on it
  datasheet   the maker's figure; `remembered` means that nobody has looked it up again
  modelled    our assumption, or arithmetic on a nominal rate
Rates are per direction, in bytes per second; a host's speed is its device's peak fp32 FLOP/s.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent


@dataclass(frozen=True)
class Device:
    name: str
    speed: str
    source: str


@dataclass(frozen=True)
class Wire:
    """One kind of link. A transfer crosses two of a kind, so `latency` is half of the source's value."""

    suffix: str
    bandwidth: str
    latency: str
    source: str
    window: int = 0  # bytes that a TCP stream may have under way; 0: no limit
    streams: int = 1


@dataclass(frozen=True)
class Nodes:
    """`count` equal nodes: each GPU has its own bus link, and the GPUs of a node share one card."""

    count: int
    gpus: int
    device: Device
    bus: Wire
    card: Wire


RTX2080TI = Device("rtx2080ti", "13.45Tf",
                   "GeForce RTX 2080 Ti, 4,352 cores at the 1,545 MHz reference boost (datasheet, remembered)")
V100 = Device("v100", "15.7Tf", "Tesla V100-SXM2 (datasheet)")
V100_PCIE = Device("v100", "14Tf", "Tesla V100-PCIe (datasheet, remembered)")
A100 = Device("a100", "19.5Tf", "A100-SXM4, CUDA cores, no TF32 (datasheet, remembered)")
K80 = Device("k80", "4.37Tf",
             "One of the two GPUs of a Tesla K80: half of the board's 8.74 TFLOP/s with boost (datasheet, remembered)")
TITANX = Device("gtx-titan-x", "6.6Tf",
                "GeForce GTX Titan X (Maxwell), 3,072 cores at 1,075 MHz boost (datasheet, remembered)")
P102 = Device("p102-100", "10.77Tf", "P102-100, 3,200 cores at 1,683 MHz boost (datasheet, remembered)")

# Inside a node. Latency: NCCL's tuning table, one step of a ring, Simple protocol: PCIe 5.7 us, NVLink 3.4 us.
PCIE_P2P = Wire("pcie", "12GBps", "2.85us", """\
PCIe 3.0 x16 with peer to peer. Rate published: NCCL's topology table (PCI_BW); nominal is 15.75 GB/s.
Latency published: NCCL's tuning table, 5.7 us from GPU to GPU, half at each end.""")
PCIE_STAGED = Wire("pcie", "6GBps", "2.85us", """\
PCIe 3.0 x16 without peer to peer, which this card lacks over PCIe: every byte goes to host memory and
back. Rate modelled: half of the 12 GB/s that NCCL's topology table gives a slot (nominal 15.75 GB/s).
Latency published: NCCL's tuning table, 5.7 us from GPU to GPU, half at each end.""")
PCIE_SLOT = Wire("pcie", "12GBps", "0.15us", """\
The slot that the two GPUs of a board share (datasheet, remembered): what leaves a board crosses it too.
Rate published, as for a GPU; latency modelled: one more PCIe switch, 0.15 us.""")
PCIE_HOST = Wire("pcie", "6GBps", "2.85us", """\
PCIe 3.0 x16 in a virtual machine without peer to peer (remembered): every byte goes to host memory and back.
Rate modelled: half of the 12 GB/s that NCCL's topology table gives a slot.
Latency published: NCCL's tuning table, 5.7 us from GPU to GPU, half at each end.""")
MEMORY = Wire("port", "48GBps", "0us", """\
Between the server's memory, where parameter servers and aggregators live, and all GPUs. Rate modelled: four x16
slots at the 12 GB/s of NCCL's topology table, as the program's own `host-bandwidth`.""")
NVLINK_V100 = Wire("nvlink", "120GBps", "1.7us", """\
Six NVLink 2 links of a GPU as one. Rate published: 6 x 20 GB/s, NCCL's topology table (SM70_NVLINK_BW);
nominal is 6 x 25 GB/s. Modelled: the mesh is a crossbar, so one pair alone may use all six links, where
the real machine gives it one or two; a ring that uses all links at once is what this is right for.
Latency published: NCCL's tuning table, 3.4 us from GPU to GPU, half at each end.""")
NVLINK_A100 = Wire("nvlink", "240GBps", "1.7us", """\
Twelve NVLink 3 links of a GPU as one. Rate published: 12 x 20 GB/s, NCCL's topology table
(SM80_NVLINK_BW); nominal is 12 x 25 GB/s. Latency published: as for the V100.""")

# Between nodes. Latency of the card: half of the published GPU-to-GPU figure less the bus.
TCP_10G_LATENCY = """\
Latency published: 30 us from GPU to GPU, the fit in the MG-WFBP authors' code (10 Gbit/s, 16 workers, cluster
not named: 0.908 ms for the 30 steps of a ring)"""
ETHERNET_10G = Wire("nic", "1.17GBps", "12.15us", f"""\
10 Gbit/s Ethernet, TCP. Rate modelled: nominal 1.25 GB/s less the headers of 1,500-byte frames.
{TCP_10G_LATENCY}, less the bus, half at each card.""")
ETHERNET_25G = Wire("nic", "2.94GBps", "13.3us", """\
25 Gbit/s Ethernet, TCP. Rate modelled: nominal 3.125 GB/s less the headers of 1,500-byte frames.
Latency modelled: that of 10 Gbit/s Ethernet, 30 us from GPU to GPU (published: MG-WFBP authors), less the
bus, half at each card.""")
ETHERNET_40G = Wire("nic", "512.5MBps", "12.15us", """\
40 Gbit/s Ethernet, TCP. Rate published: the 4.1 Gbit/s that the 1-bit Adam authors measured with iperf.
Latency modelled: that of 10 Gbit/s Ethernet, 30 us from GPU to GPU (published: MG-WFBP authors), less the
bus, half at each card.""")
ETHERNET_1G = Wire("nic", "111.1MBps", "218us", """\
1 Gbit/s Ethernet, TCP. Both published: the gTop-k authors' plotting script has alpha = 0.436 ms and
beta = 9 ns per byte (0.89 Gbit/s; nominal 125 MB/s). Half of alpha at each card.""")
RDMA_LATENCY = "Latency published: NCCL's tuning table, 14 us from GPU to GPU, less the bus, half at each card."
EDR_PCIE = Wire("nic", "12GBps", "4.15us", f"""\
One 100 Gbit/s InfiniBand (EDR) card. Rate published: NCCL's topology table (NET_BW); nominal is 12.5 GB/s.
{RDMA_LATENCY}""")
EDR = Wire("nic", "12GBps", "5.3us", EDR_PCIE.source)
HDR = Wire("nic", "24GBps", "5.3us", f"""\
One 200 Gbit/s InfiniBand (HDR) card. Rate published: what NCCL's maintainers call its peak; nominal is 25 GB/s.
{RDMA_LATENCY}""")

WAN_10G = Wire("wan", "1.17GBps", "30ms", """\
10 Gbit/s of a provider's line between two regions, TCP. Rate modelled: nominal 1.25 GB/s less the headers of
1,500-byte frames. Latency modelled: 30 ms one way, some 4,500 km of fibre and its routers.
Window: 4 MiB, the largest that Linux takes by itself to send (tcp_wmem, remembered); 8 streams a transfer, modelled.
So one transfer alone gets 8 x 4 MiB / 60 ms = 559 MB/s, and two fill the line to 96 %.""",
               4 * 1024 * 1024, 8)

SWITCH = "Modelled: one switch that never blocks joins all cards, and adds no time of its own."


def link(name, wire):
    begin = f'<link id="{name}" bandwidth="{wire.bandwidth}" latency="{wire.latency}" sharing_policy="SPLITDUPLEX"'
    if not wire.window:
        return begin + "/>\n"
    return begin + (f'>\n  <prop id="tcp-window" value="{wire.window}"/>'
                    f'<prop id="streams" value="{wire.streams}"/>\n</link>\n')


def host(name, node, device, site=""):
    where = f'<prop id="site" value="{site}"/>' if site else ""
    return (f'<host id="{name}" speed="{device.speed}">'
            f'<prop id="node" value="{node}"/><prop id="device" value="{device.name}"/>{where}</host>\n')


def star(zone, node, hosts, device, wire, site=""):
    """A zone of hosts, each with its own link to the zone's router."""
    body = f'<zone id="{zone}" routing="Floyd">\n'
    body += "".join("  " + host(name, node or name, device, site) for name in hosts)
    body += f'  <router id="{zone}-root"/>\n'
    body += "".join("  " + link(f"{name}-{wire.suffix}", wire) for name in hosts)
    for name in hosts:
        body += f'  <route src="{name}" dst="{zone}-root"><link_ctn id="{name}-{wire.suffix}" direction="UP"/></route>\n'
    return body + "</zone>\n"


def joined(name, zones, centre):
    """Zones, each with its own link to one central router. `zones`: (zone, its XML, its wire, link's name).
    The gateway of a zone is its router, or its only host."""
    body = f'<zone id="{name}" routing="Floyd">\n\n'
    for _, xml, _, _ in zones:
        body += indent(xml, "  ") + "\n"
    body += f'  <zone id="{centre}" routing="Floyd"><router id="{centre}-root"/></zone>\n\n'
    body += "".join("  " + link(uplink, wire) for _, _, wire, uplink in zones) + "\n"
    for zone, xml, _, uplink in zones:
        gateway = f"{zone}-root" if "<router" in xml else f"{zone}-host"
        body += (f'  <zoneRoute src="{zone}" dst="{centre}" gw_src="{gateway}" gw_dst="{centre}-root">\n'
                 f'    <link_ctn id="{uplink}" direction="UP"/>\n  </zoneRoute>\n')
    return body + "</zone>\n"


def nodes_and_switch(name, groups, first=0, switch="switch", site=""):
    zones = []
    for group in groups:
        for _ in range(group.count):
            node = f"node{first + len(zones)}"
            hosts = [f"{node}-gpu{gpu}" for gpu in range(group.gpus)]
            zones.append((node, star(node, node, hosts, group.device, group.bus, site), group.card, f"{node}-nic"))
    return joined(name, zones, switch)


def two_regions(name, nodes, wan):
    """Two equal groups of nodes with a switch, and one line between the switches."""
    body = f'<zone id="{name}" routing="Floyd">\n\n'
    for region in range(2):
        body += indent(nodes_and_switch(f"region{region}", [nodes], region * nodes.count, f"region{region}-switch",
                                        f"region{region}"), "  ") + "\n"
    body += indent(link("wan", wan), "  ")
    body += ('  <zoneRoute src="region0" dst="region1" gw_src="region0-switch-root" gw_dst="region1-switch-root">\n'
             '    <link_ctn id="wan" direction="UP"/>\n  </zoneRoute>\n')
    return body + "</zone>\n"


def boards_in_a_server(name, boards, gpus_per_board, device, wire, slot):
    zones = []
    for board in range(boards):
        hosts = [f"gpu{board * gpus_per_board + gpu}" for gpu in range(gpus_per_board)]
        xml = star(f"board{board}", "node0", hosts, device, wire)
        zones.append((f"board{board}", xml, slot, f"board{board}-{slot.suffix}"))
    memory = ('<zone id="memory" routing="Floyd">\n  <host id="memory-host" speed="1Tf">'
              '<prop id="node" value="node0"/><prop id="role" value="host"/></host>\n</zone>\n')
    return joined(name, zones + [("memory", memory, MEMORY, "memory-port")], "pcie-fabric")


def platform(name, what, facts, zone):
    """The whole file: the cluster's description, (title, text) for every number in it, and the zone."""
    head = f"{name}: {what}\n\n"
    for title, text in facts:
        head += f"{title}:\n{indent(text, '  ')}\n"
    head += "\nA link is full duplex and appears as NAME_UP (towards the switch) and NAME_DOWN in SimGrid.\n"
    head += "Written by generate.py: change the numbers there."
    assert "--" not in head, "XML comments may not hold two hyphens"
    return ('<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            f'<!--\n{indent(head, "  ")}\n-->\n'
            f'<platform version="4.1">\n{indent(zone, "  ")}</platform>\n').replace("\n\n\n", "\n\n")


def cluster(name, what, groups):
    facts = []
    for group in groups:
        of = f" ({group.device.name})" if len({other.device for other in groups}) > 1 else ""
        facts += [(f"Speed of a host{of}, fp32", group.device.source),
                  (f"Links *-{group.bus.suffix}{of}", group.bus.source),
                  (f"Links *-{group.card.suffix}{of}", group.card.source)]
    return platform(name, what, [*dict.fromkeys(facts), ("Switch", SWITCH)], nodes_and_switch(name, groups))


def one_gpu_machines(name, what, count, device, wire):
    machines = [f"node{machine}" for machine in range(count)]
    facts = [("Speed of a host, fp32", device.source), (f"Links *-{wire.suffix}", wire.source), ("Switch", SWITCH)]
    return platform(name, what, facts, star("switch", None, machines, device, wire))


def everything():
    yield "pcie-8x4-10gbe", cluster("pcie-8x4-10gbe", """\
8 nodes x 4 RTX 2080 Ti on PCIe, 10 Gbit/s Ethernet.
The cluster of the ddl-benchmarks results page (the model of GPU is remembered, not printed there).""",
                                    [Nodes(8, 4, RTX2080TI, PCIE_STAGED, ETHERNET_10G)])
    yield "pcie-8x4-100gib", cluster("pcie-8x4-100gib", """\
8 nodes x 4 RTX 2080 Ti on PCIe, 100 Gbit/s InfiniBand.
pcie-8x4-10gbe with a faster network; one GPU alone cannot fill the card, as its bytes are staged.""",
                                     [Nodes(8, 4, RTX2080TI, PCIE_STAGED, EDR_PCIE)])
    yield "pcie-8x2-10gbe", cluster("pcie-8x2-10gbe", """\
8 nodes x 2 GTX Titan X on PCIe, 10 Gbit/s Ethernet in a fat tree.
The cluster of the PowerSGD paper, which also says PCIe; that these cards reach each other is remembered.""",
                                    [Nodes(8, 2, TITANX, PCIE_P2P, ETHERNET_10G)])
    yield "v100-4x8-100gib", cluster("v100-4x8-100gib", """\
4 nodes x 8 V100 with NVLink (hybrid cube mesh), one 100 Gbit/s InfiniBand card per node.
The cluster of the OneFlow DLPerf report.""", [Nodes(4, 8, V100, NVLINK_V100, EDR)])
    yield "v100-16x8-25gbe", cluster("v100-16x8-25gbe", """\
16 nodes x 8 V100 with NVLink (hybrid cube mesh), 25 Gbit/s Ethernet.
The cloud cluster of the MSTopK paper.""", [Nodes(16, 8, V100, NVLINK_V100, ETHERNET_25G)])
    yield "v100-16x4-40gbe", cluster("v100-16x4-40gbe", """\
16 nodes x 4 V100 on PCIe, 40 Gbit/s Ethernet that gives TCP a tenth of it.
The Ethernet cluster of the 1-bit Adam paper (its nodes are remembered as virtual machines, NC24rs v3).""",
                                     [Nodes(16, 4, V100_PCIE, PCIE_HOST, ETHERNET_40G)])
    yield "hetero-v100-a100", cluster("hetero-v100-a100", """\
4 nodes x 4 V100 (node0 to node3) and 4 nodes x 4 A100 (node4 to node7), one fabric.
No particular cluster: what a site has that bought twice.""",
                                      [Nodes(4, 4, V100, NVLINK_V100, EDR), Nodes(4, 4, A100, NVLINK_A100, HDR)])
    yield "gbe-32x1", one_gpu_machines("gbe-32x1", """\
32 machines x 1 P102-100, 1 Gbit/s Ethernet.
The cluster of the gTop-k paper (the model of GPU is remembered). The GPU's bus is left out: even this
mining card's PCIe 1.0 x4 (1 GB/s, remembered) is nine times faster than the network.""", 32, P102, ETHERNET_1G)
    yield "pcie-4-and-6-10gbe", cluster("pcie-4-and-6-10gbe", """\
one node with 4 and one with 6 RTX 2080 Ti on PCIe, 10 Gbit/s Ethernet.
No particular cluster: two machines of pcie-8x4-10gbe that were not bought alike.""",
                                        [Nodes(1, 4, RTX2080TI, PCIE_STAGED, ETHERNET_10G),
                                         Nodes(1, 6, RTX2080TI, PCIE_STAGED, ETHERNET_10G)])
    region = Nodes(4, 8, A100, NVLINK_A100, EDR)
    yield "two-regions-2x4x8", platform("two-regions-2x4x8", """\
two regions of 4 nodes x 8 A100 with NVLink, 10 Gbit/s and 30 ms apart.
No particular cluster. Inside a region one 100 Gbit/s InfiniBand card per node. `site` is a host's region.""", [
        ("Speed of a host, fp32", A100.source), ("Links *-nvlink", NVLINK_A100.source), ("Links *-nic", EDR.source),
        ("Switch of a region", SWITCH), ("Link wan", WAN_10G.source)], two_regions("two-regions-2x4x8", region, WAN_10G))
    yield "k80-1x16", platform("k80-1x16", """\
one server with 16 K80 GPUs on 8 boards, GPUDirect peer to peer over PCIe, no network.
Amazon EC2 p2.16xlarge, the machine of the QSGD paper.""", [
        ("Speed of a host, fp32", K80.source),
        ("Links gpu*-pcie", PCIE_P2P.source), ("Links board*-pcie", PCIE_SLOT.source),
        ("Link memory-port", MEMORY.source),
        ("PCIe fabric", "Modelled: the switches above the boards never block and add no time of their own.")],
        boards_in_a_server("k80-1x16", 8, 2, K80, PCIE_P2P, PCIE_SLOT))


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    differs = []
    for name, text in everything():
        path = Path(__file__).resolve().parent / f"{name}.xml"
        if not path.exists() or path.read_text() != text:
            differs.append(path.name)
            if not arguments:
                path.write_text(text)
    print("\n".join(f"{'differs' if arguments else 'written'}: {name}" for name in differs) or "all up to date")
    return 1 if arguments and differs else 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        try:
            print(f"generate.py: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        finally:
            os._exit(2)  # without the flush at exit, which would fail again
    sys.exit(code)
