package runview

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/wdgnn/wdgnn/internal/live"
)

// Certify draws into a scene what wdgnn certify --lost 1 --json found out of its links:
// those whose loss would change an answer, and says how many would not.
func Certify(s *live.Scene, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("runview: %w", err)
	}
	var found struct {
		Lost *struct {
			Of    string `json:"of"`
			Parts []struct {
				Ends  []int `json:"ends"`
				Flips int   `json:"flips"`
			} `json:"parts"`
		} `json:"lost"`
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return fmt.Errorf("runview: %s: %w", path, err)
	}
	if found.Lost == nil || found.Lost.Of != "links" {
		return fmt.Errorf("runview: %s does not say what the loss of a link does", path)
	}
	at := map[[2]int]int32{}
	for k, e := range s.Edges {
		at[[2]int{int(min(e[0], e[1])), int(max(e[0], e[1]))}] = int32(k)
	}
	if len(at) == 0 {
		return errors.New("runview: the run shows no links to draw that into")
	}
	known := 0
	for _, p := range found.Lost.Parts {
		if len(p.Ends) != 2 {
			continue
		}
		k, ok := at[[2]int{min(p.Ends[0], p.Ends[1]), max(p.Ends[0], p.Ends[1])}]
		if !ok {
			continue
		}
		if known++; p.Flips > 0 {
			s.Weak = append(s.Weak, k)
		}
	}
	if known == 0 {
		return fmt.Errorf("runview: none of the %d links of %s is one of the run's", len(found.Lost.Parts), path)
	}
	s.About += fmt.Sprintf(" Certified for the model as trained: the loss of any one of %d links changes no answer.", known-len(s.Weak))
	s.About += fmt.Sprintf(" That of any of the %d others, in orange, changes one at least.", len(s.Weak))
	return nil
}
