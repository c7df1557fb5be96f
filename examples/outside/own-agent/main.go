// Command own-agent is wdgnn-agent with a rule of one's own; agent.yaml names it.
package main

import (
	"github.com/wdgnn/wdgnn/host/agentcmd"
	"github.com/wdgnn/wdgnn/rule"
)

func main() {
	agentcmd.Main(map[string]rule.Rule{"momentum": Momentum{Gamma: 1.5, Mu: 0.5}})
}
