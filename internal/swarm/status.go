package swarm

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/modelfile"
)

// statusName is the file in a swarm's folder that says how it is doing.
const statusName = "status.json"

// status is a View with the reports of all hosts.
type status struct {
	View
	Hosts []*host.Report `json:"reports"`
}

// WriteStatus writes how a swarm is doing into its folder.
func WriteStatus(dir string, v *View) error {
	return modelfile.WriteFile(filepath.Join(dir, statusName), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(status{*v, v.Reports})
	})
}

// ReadStatus reads what WriteStatus wrote last.
func ReadStatus(dir string) (*View, error) {
	text, err := os.ReadFile(filepath.Join(dir, statusName))
	if err != nil {
		return nil, fmt.Errorf("swarm: status: %w", err)
	}
	var s status
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("swarm: status: %s: %w", filepath.Join(dir, statusName), err)
	}
	s.Reports = s.Hosts
	return &s.View, nil
}
