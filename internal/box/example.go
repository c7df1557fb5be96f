package box

// Example is a small configuration file, for help texts.
const Example = `A configuration, agent.yaml:

  run: yard                       # the same on all boxes
  host: 1                         # this box
  hosts:                          # all boxes and their nodes
    0: {nodes: 0-3}
    1: {nodes: 4-7}
  model: model.safetensors        # of wdgnn train, the same on all boxes
  learn: {preset: auto}           # leave it out to predict only
  bus: {kind: nats, url: "nats://10.0.0.1:4222", keys: keys/host-1}
  world: {kind: lines}            # stdin to stdout; or stream, or subject
  pace: {deadline: 200ms}
  state: state                    # checkpoints
  metrics: 127.0.0.1:9100
`
