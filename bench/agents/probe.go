package agents

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/swarm"
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

// Serve prints a line when the bus is ready, waits for a line, passes frames
// until in ends, and prints how many steps that were.
func (p *Probe) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	secrets, err := keys.LoadClient(p.Keys, keys.HostName(p.Host))
	if err != nil {
		return err
	}
	conn, err := swarm.Dial(ctx, natsbus.Config{URL: p.URL, Run: p.Run, Host: p.Host, Seed: secrets.Seed})
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
	begin := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, err := lines.ReadString('\n')
		begin <- err
		lines.ReadByte() // returns at the end of in
		cancel()
	}()
	if err := p.await(ctx, begin); err != nil {
		return err
	}
	began := time.Now()
	rounds, err := p.pass(ctx, conn)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(probed{rounds / len(p.Frames), time.Since(began).Seconds()})
}

// await waits until somebody says when to begin: when all others are ready, each
// of which may take as long as startTimeout.
func (p *Probe) await(ctx context.Context, begin <-chan error) error {
	const wait = 2 * startTimeout
	end := time.NewTimer(wait)
	defer end.Stop()
	select {
	case err := <-begin:
		if err != nil {
			return fmt.Errorf("nobody said when to begin: %w", err)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-end.C:
		return fmt.Errorf("nobody said within %v when to begin", wait)
	}
}

// probeTimeout is how long a round may take. A frame that was lost does not
// come again, and without it there is nothing to measure.
const probeTimeout = 10 * time.Second

// pass passes frames until ctx ends and returns the number of rounds.
func (p *Probe) pass(ctx context.Context, bus transport.Bus) (int, error) {
	frames := make([][]byte, len(p.Frames))
	for k, size := range p.Frames {
		frames[k] = make([]byte, max(size, probeHeader))
	}
	heard := map[uint64][]transport.HostID{} // by round; neighbours are one ahead at most
	timeout := time.NewTimer(probeTimeout)
	defer timeout.Stop()
	for round := uint64(0); ; round++ {
		frame := frames[round%uint64(len(frames))]
		binary.LittleEndian.PutUint64(frame, round)
		if err := bus.Send(frame); err != nil {
			return 0, err
		}
		timeout.Reset(probeTimeout)
		for len(heard[round]) < len(p.Hear) {
			select {
			case f, ok := <-bus.Frames():
				if !ok {
					return 0, transport.ErrClosed
				}
				if len(f.Data) >= probeHeader {
					r := binary.LittleEndian.Uint64(f.Data)
					heard[r] = append(heard[r], f.From)
				}
			case <-ctx.Done():
				return int(round), nil
			case <-timeout.C:
				return 0, fmt.Errorf("host %d waited %v for the frames of round %d: none came from host %s",
					p.Host, probeTimeout, round, p.silent(heard[round]))
			}
		}
		delete(heard, round)
	}
}

// silent names the neighbours that were not heard.
func (p *Probe) silent(heard []transport.HostID) string {
	var names []string
	for _, id := range p.Hear {
		if !slices.Contains(heard, id) {
			names = append(names, fmt.Sprint(id))
		}
	}
	return strings.Join(names, ", ")
}
