// Package box is what runs on one machine of a deployment, a robot or a sensor
// box: it reads agent.yaml, gives a host its model, bus, world and disk, and
// shows how it is doing.
//
//	c, err := box.Load("agent.yaml")
//	err = box.Run(ctx, c, box.Streams{In: os.Stdin, Out: os.Stdout, Log: log})
//
// [Describe] says what Run would do and starts nothing.
package box

//go:generate go test -run TestKeysPage -update .
