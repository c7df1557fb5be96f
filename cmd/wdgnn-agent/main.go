// Command wdgnn-agent runs the agents of one box, a robot or a sensor: what
// `wdgnn agent` does, in a small program. With rules of one's own it is package
// host/agentcmd and ten lines.
package main

import "github.com/wdgnn/wdgnn/host/agentcmd"

func main() { agentcmd.Main(nil) }
