package recommend

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/strictjson"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
)

// Model is a trained network with what is needed to use it.
type Model struct {
	Setting Setting
	Data    string // fingerprint of the ratings, as package dataset has it
	network *gnn.WideDeep
	moment  *rule.SecondMoment // of the inputs in training
	Report  Report
}

// digest names the model: its parameters, its setting and its data, as
// hexadecimal digits of SHA-256.
func (m *Model) digest() string {
	sum := sha256.New()
	setting, err := json.Marshal(m.Setting)
	if err != nil {
		panic("recommend: a setting that is no JSON: " + err.Error())
	}
	fmt.Fprintf(sum, "%s\n%s\n", setting, m.Data)
	_ = binary.Write(sum, binary.LittleEndian, m.network.Params.Flat) // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil))
}

// sidecar is the content of the file beside a model file.
type sidecar struct {
	Format  int                `json:"format"`
	Digest  string             `json:"digest"` // Model.digest
	Data    string             `json:"data"`
	Setting Setting            `json:"setting"`
	Moment  *rule.SecondMoment `json:"moment"`
	Report  Report             `json:"report"`
}

const sidecarFormat = 1

// sidecarPath returns where the file beside the model at path is:
// model.safetensors has model.json.
func sidecarPath(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + ".json" }

// Save writes m to a model file at path and its setting to a file beside it,
// whose name ends in .json. Version is that of the program.
func Save(path string, m *Model, version string) error {
	if filepath.Ext(path) == ".json" {
		return fmt.Errorf("recommend: model %s: the file beside it would have its name; try model.safetensors", path)
	}
	side := sidecar{Format: sidecarFormat, Digest: m.digest(), Data: m.Data, Setting: m.Setting, Moment: m.moment, Report: m.Report}
	err := modelfile.WriteFile(sidecarPath(path), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(side)
	})
	if err != nil {
		return fmt.Errorf("recommend: save model: %w", err)
	}
	return modelfile.Save(path, &modelfile.Model{
		Network: m.network,
		Meta:    modelfile.Meta{Shift: m.Setting.Shift, Task: "recommend", Seed: m.Setting.Seed, Version: version},
	})
}

// Load reads the model at path and the file beside it.
func Load(path string) (*Model, error) {
	file, err := modelfile.Load(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(sidecarPath(path))
	if err != nil {
		return nil, fmt.Errorf("recommend: model %s: its setting: %w", path, err)
	}
	var side sidecar
	if err := strictjson.Unmarshal(text, &side); err != nil && side.Format <= sidecarFormat { // of a later format at least the number
		return nil, fmt.Errorf("recommend: %s: %w", sidecarPath(path), err)
	}
	m := &Model{Setting: side.Setting, Data: side.Data, network: file.Network, moment: side.Moment, Report: side.Report}
	if err := m.check(side); err != nil {
		return nil, fmt.Errorf("recommend: model %s and %s: %w", path, sidecarPath(path), err)
	}
	return m, nil
}

// check reports a network and a setting that do not belong together.
func (m *Model) check(side sidecar) error {
	if side.Format != sidecarFormat {
		return fmt.Errorf("format %d, this program reads %d; try a newer wdgnn", side.Format, sidecarFormat)
	}
	if err := m.Setting.Validate(); err != nil {
		return err
	}
	if side.Digest != m.digest() {
		return errors.New("they do not belong together: the digest differs; train again")
	}
	c := m.network.Config
	if c.In != 1 || c.Outputs != 1 || c.Wide == nil || c.Wide.Order != m.Setting.Order || len(c.Deep) > 1 ||
		m.network.InputOrder() > m.Setting.Order {
		return errors.New("the network is not one that recommends")
	}
	if m.moment == nil {
		return errors.New("no second moment of the inputs")
	}
	return m.moment.Validate()
}
