package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/internal/journal"
)

// forget removes the files of models that were deployed and are not needed any more. What
// is needed is the one that runs, the one before, to which there is a way back, what the
// box is armed with, what was staged since the last change, and what the checkpoints on
// disk are of, which a box that is started again goes on from. If that cannot be told
// nothing is removed. The caller holds one, or nobody else knows d yet.
func (d *deployer) forget() error {
	dir := filepath.Dir(d.box.modelPath(""))
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now := d.now()
	needed := d.needed(now)
	var old []fs.DirEntry
	for _, e := range entries {
		if sum := sumIn(e.Name()); sum != "" && !needed[sum] {
			old = append(old, e)
		}
	}
	if len(old) == 0 {
		return nil
	}
	kept, err := d.kept(now)
	if err != nil {
		return err
	}
	for _, e := range old {
		sum := sumIn(e.Name())
		if kept[sum] {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
		delete(d.made, sum)
		d.box.log.Info("a model that was deployed before is removed", "file", e.Name())
	}
	return nil
}

// sumIn returns the SHA-256 in the name of a file of modelsName, whole or not; "" if
// the box has not written it.
func sumIn(name string) string {
	sum, ours := strings.CutSuffix(strings.TrimSuffix(name, partSuffix), modelSuffix)
	if !ours || !isSum(sum) {
		return ""
	}
	return sum
}

// isSum says whether a text is a SHA-256 as it is written here.
func isSum(text string) bool { return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == "" }

// needed returns the models that the box may have to load, but for those of checkpoints.
func (d *deployer) needed(now *deployment) map[string]bool {
	sums := map[string]bool{now.Model: true, now.Before: true, d.box.runs: true}
	if now.Armed != nil {
		sums[now.Armed.Model] = true
	}
	for sum, s := range d.made {
		if s.after == now.Since {
			sums[sum] = true
		}
	}
	return sums
}

// kept returns the models of the checkpoints on disk.
func (d *deployer) kept(now *deployment) (map[string]bool, error) {
	sums := map[string]bool{}
	texts, err := journal.ReadAll(d.box.abs(d.box.State))
	for _, text := range texts {
		var c struct {
			Model string `json:"model"`
		}
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("a checkpoint: %w", err)
		}
		if c.Model == "" { // of before anything was deployed
			c.Model = now.First
		}
		sums[c.Model] = true
	}
	return sums, err
}
