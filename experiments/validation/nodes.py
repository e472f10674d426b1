"""Platforms of like nodes for the platforms.py of these folders: GPUs on links of their own, the cards of a node as one link.

Eight rings, one through each card, carry what one ring does through a link of all cards' rate.
"""

import sys
from pathlib import Path


def xml(name, words, nodes, gpus, device, speed, bus, bus_latency, cards, latency):
    """Rates one way; a way crosses two links of a kind, so latencies are halves."""
    lines = ['<?xml version="1.0"?>', '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
             f"<!-- {words}, as platforms.py writes it: README.md. -->",
             '<platform version="4.1">', f'  <zone id="{name}" routing="Floyd">']
    for node in range(nodes):
        lines.append(f'    <zone id="node{node}" routing="Floyd">')
        for gpu in range(gpus):
            host = f"node{node}-gpu{gpu}"
            lines += [f'      <host id="{host}" speed="{speed}"><prop id="node" value="node{node}"/>'
                      f'<prop id="device" value="{device}"/></host>',
                      f'      <link id="{host}-bus" bandwidth="{bus}" latency="{bus_latency}" '
                      'sharing_policy="SPLITDUPLEX"/>']
        lines.append(f'      <router id="node{node}-root"/>')
        lines += [f'      <route src="node{node}-gpu{gpu}" dst="node{node}-root">'
                  f'<link_ctn id="node{node}-gpu{gpu}-bus" direction="UP"/></route>' for gpu in range(gpus)]
        lines.append("    </zone>")
    lines.append('    <zone id="switch" routing="Floyd"><router id="switch-root"/></zone>')
    lines += [f'    <link id="node{node}-nic" bandwidth="{cards}" latency="{latency}" sharing_policy="SPLITDUPLEX"/>'
              for node in range(nodes)]
    lines += [f'    <zoneRoute src="node{node}" dst="switch" gw_src="node{node}-root" gw_dst="switch-root">'
              f'<link_ctn id="node{node}-nic" direction="UP"/></zoneRoute>' for node in range(nodes)]
    return "\n".join([*lines, "  </zone>", "</platform>", ""])


def main(script, files):
    """Writes each file beside the script; with --check says which is not what would be written."""
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"usage: {Path(script).name} [--check]")
    stale = 0
    for name, text in files.items():
        path = Path(script).with_name(f"{name}.xml")
        if not sys.argv[1:]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path.name} is not what {Path(script).name} writes", file=sys.stderr)
            stale = 1
    sys.exit(stale)
