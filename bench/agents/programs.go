package agents

import (
	"context"
	"debug/elf"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/swarm"
)

const (
	programsName = "programs"

	// In MB.
	mostProgram  = 45
	mostAgent    = 20
	mostResident = 30

	megabyte = 1e6
)

var programSizes = Measurement{
	Name:  programsName,
	Title: "size and memory of the programs",
	About: "size of wdgnn and wdgnn-agent without symbols, " +
		"and resident memory of wdgnn-agent with half of the 50 agents of source localization",
	Wanted: "wdgnn < 45 MB; wdgnn-agent < 20 MB, < 30 MB resident",
	run: func(ctx context.Context, b *Bench) error {
		f, err := fileFigure(b.Self[0], mostProgram)
		if err != nil {
			return err
		}
		b.Found(f)
		if b.Agent == "" {
			b.Say("wdgnn-agent was not found beside this program: left out")
			return nil
		}
		if f, err = fileFigure(b.Agent, mostAgent); err != nil {
			return err
		}
		run, err := b.trial(ctx)
		if err != nil {
			return err
		}
		f.ResidentBytes, f.LargestBytes = run.LargestBytes, run.LargestBytes
		f.goal(Goal{Name: "memory", Value: float64(run.LargestBytes) / megabyte, Unit: "MB resident", Wanted: mostResident, Below: true})
		b.Found(f)
		return nil
	},
}

const trialSeconds = 2

// trial runs wdgnn-agent for a moment.
func (b *Bench) trial(ctx context.Context) (*Figure, error) {
	b.Say("source localization with wdgnn-agent")
	t, err := b.sourceTask(100_000)
	if err != nil {
		return nil, err
	}
	return b.timed(ctx, swarm.Options{Task: t, Hosts: 2, Bus: box.BusNATS, Program: []string{b.Agent}}, trialSeconds)
}

// fileFigure returns the size of a program, which is judged if it was built
// without symbols.
func fileFigure(path string, most float64) (*Figure, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	f := &Figure{Measurement: programsName, Case: filepath.Base(path), FileBytes: info.Size()}
	program, err := elf.Open(path)
	if err != nil {
		return f, nil // another system's program
	}
	defer program.Close()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			f.Case += ", not static"
		}
	}
	if program.Section(".symtab") != nil {
		f.Case += ", with symbols"
		return f, nil
	}
	f.goal(Goal{Name: "size", Value: float64(info.Size()) / megabyte, Unit: "MB", Wanted: most, Below: true})
	return f, nil
}
