package swarm

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// Probe is a process that passes frames as agents would and computes nothing:
// what a bus can carry at most. In every round of a step it sends one frame and
// waits for one of each neighbour.
type Probe struct {
	URL    string             `json:"url"` // of a NATS server
	Run    string             `json:"run"`
	Host   transport.HostID   `json:"host"`
	Keys   string             `json:"keys"`   // folder
	Hear   []transport.HostID `json:"hear"`   // the neighbours
	Frames []int              `json:"frames"` // bytes of the frame of each round of a step
}

// probed is what a probe prints at its end.
type probed struct {
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`
}

// probeHeader is the number of the round, which every frame begins with.
const probeHeader = 8

// Play prints a line when the bus is ready, waits for a line, passes frames
// until in ends, and prints how many steps that were.
func (p *Probe) Play(ctx context.Context, in io.Reader, out io.Writer) error {
	secrets, err := keys.LoadClient(p.Keys, keys.HostName(p.Host))
	if err != nil {
		return err
	}
	conn, err := natsbus.Dial(ctx, natsbus.Config{URL: p.URL, Run: p.Run, Host: p.Host, Seed: secrets.Seed})
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := errors.Join(conn.Hear(p.Hear), conn.Flush(ctx)); err != nil {
		return err
	}
	lines := bufio.NewReader(in)
	if _, err := fmt.Fprintln(out, "{}"); err != nil {
		return err
	}
	if _, err := lines.ReadString('\n'); err != nil {
		return fmt.Errorf("nobody said when to begin: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		lines.ReadByte() // returns at the end of in
		cancel()
	}()
	began := time.Now()
	rounds, err := p.pass(ctx, conn)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(probed{rounds / len(p.Frames), time.Since(began).Seconds()})
}

// pass passes frames until ctx ends and returns the number of rounds.
func (p *Probe) pass(ctx context.Context, bus transport.Bus) (int, error) {
	frames := make([][]byte, len(p.Frames))
	for k, size := range p.Frames {
		frames[k] = make([]byte, max(size, probeHeader))
	}
	heard := map[uint64]int{} // frames by round; neighbours are one ahead at most
	for round := uint64(0); ; round++ {
		frame := frames[round%uint64(len(frames))]
		binary.LittleEndian.PutUint64(frame, round)
		if err := bus.Send(frame); err != nil {
			return 0, err
		}
		for heard[round] < len(p.Hear) {
			select {
			case f, ok := <-bus.Frames():
				if !ok {
					return 0, transport.ErrClosed
				}
				if len(f.Data) >= probeHeader {
					heard[binary.LittleEndian.Uint64(f.Data)]++
				}
			case <-ctx.Done():
				return int(round), nil
			}
		}
		delete(heard, round)
	}
}
