package runview

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/train"
)

// Training turns the epochs of a training run into frames.
type Training struct {
	Title  string
	Epochs int    // planned; 0 if that is not known
	Select string // what validation compares: accuracy, loss, cost or rmse; empty if there is none
}

// trainingParts are the curves of a chart of costs; each has a colour of its own.
var trainingParts = []string{"training", "validation", "best so far"}

// Scene returns what the run shows.
func (t *Training) Scene() live.Scene {
	s := live.Scene{
		Title: t.Title, Task: "train", Time: "epoch", Layout: live.LayoutNone, Learners: trainingParts, Looks: []int{3, 1, 2},
		About: aboutTraining,
	}
	const loss = "loss by epoch"
	s.Curves = []live.Curve{{Name: trainingParts[0], Chart: loss, Learner: 0, Note: "What answers to the samples cost: less is better."}}
	if t.Select != "" {
		chart, unit := loss, ""
		switch t.Select {
		case "loss":
		case "accuracy":
			chart, unit = "right answers in validation", "%"
		default:
			chart = t.Select + " in validation"
		}
		note := "On samples that it does not learn from; the best epoch is kept."
		for k, name := range trainingParts[1:] {
			s.Curves = append(s.Curves, live.Curve{Name: name, Chart: chart, Learner: k + 1, Unit: unit, Note: note})
			note = ""
		}
	}
	s.Curves = append(s.Curves, live.Curve{
		Name: "gradient", Chart: "length of the gradient", Learner: -1, Log: true, Note: "How steep the loss still is where training stands.",
	})
	s.Counters = []live.Counter{{Name: "epochs"}, {Name: "loss"}}
	if t.Select != "" {
		s.Counters = append(s.Counters, live.Counter{Name: t.scoreName() + ", best so far", Unit: t.scoreUnit()})
	}
	return s
}

func (t *Training) scoreName() string {
	if t.Select == "accuracy" {
		return "right answers in validation"
	}
	return t.Select + " in validation"
}

func (t *Training) scoreUnit() string {
	if t.Select == "accuracy" {
		return "%"
	}
	return ""
}

// Take returns the frame of an epoch, and what happened, in words.
func (t *Training) Take(e train.Epoch) (*live.Frame, []live.Words) {
	f := &live.Frame{Time: float64(e.Index), Curves: live.Numbers{e.Loss}, Counters: live.Numbers{float64(e.Index), round(e.Loss)}}
	if t.Select != "" {
		score, best := math.NaN(), math.NaN()
		switch {
		case e.Scored && t.Select == "accuracy": // scores are better the smaller they are
			score, best = 100*(1-e.Score), 100*(1-e.Best)
		case e.Scored:
			score, best = e.Score, e.Best
		}
		f.Curves, f.Counters = append(f.Curves, score, best), append(f.Counters, round(best))
	}
	f.Curves = append(f.Curves, e.GradNorm)
	if e.Restarts {
		words := fmt.Sprintf("Epoch %d: every unit of the deep part is dead; training starts anew from other values.", e.Index)
		return f, []live.Words{{Time: f.Time, Text: words, Mark: "anew"}}
	}
	return f, nil
}
