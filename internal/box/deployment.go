package box

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/modelfile"
)

// What was deployed lies in the folder of checkpoints: deployFile, and the models
// themselves by their SHA-256 in the folder modelsName.
var deployFile = stateFile{name: "deploy.json", version: 1, key: "state", instead: "use another folder"}

const (
	modelsName  = "models"
	modelSuffix = ".safetensors"
	partSuffix  = ".part" // of one that is not whole yet
)

// deployment is what a box keeps of the models that it was given while it ran. The zero
// one is that of a box that was given none.
type deployment struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
	First   string `json:"first"`            // of the configuration, when another was deployed for the first time
	Model   string `json:"model"`            // that nodes have gone over to last
	Since   uint64 `json:"since,omitempty"`  // the step
	Before  string `json:"before,omitempty"` // what they ran before
	Fence   uint64 `json:"fence,omitempty"`  // see host.Config
	Armed   *armed `json:"armed,omitempty"`  // what the box is armed with, or went over to last
}

// armed is a change that a box has promised to make if all do.
type armed struct {
	ID      uint64     `json:"id"`
	Step    uint64     `json:"step"`
	Model   string     `json:"model"`
	Reset   bool       `json:"reset,omitempty"`
	Cert    []byte     `json:"cert,omitempty"` // of the operator
	Dropped bool       `json:"dropped,omitempty"`
	Done    *host.Word `json:"done,omitempty"`
	Before  uint32     `json:"before,omitempty"` // digest of the plan before
}

// readDeployment reads what was deployed to a box, nil if nothing ever was.
func (c *Config) readDeployment() (*deployment, error) {
	d := new(deployment)
	if found, err := deployFile.read(c, d); err != nil || !found {
		return nil, err
	}
	return d, nil
}

// modelPath is where a deployed model lies.
func (c *Config) modelPath(sum string) string {
	return filepath.Join(c.abs(c.State), modelsName, sum+modelSuffix)
}

// running returns the model that a box begins with: that of its checkpoint, of what was
// deployed last, or "" for that of the configuration.
func (c *Config) running(d *deployment) (string, error) {
	model := ""
	if d != nil {
		model = d.Model
	}
	if c.State == "" {
		return "", nil
	}
	text, _, err := journal.ReadFolder(c.abs(c.State))
	if err != nil || text == nil {
		return model, nil // whoever opens the folder says what is wrong with it
	}
	last, err := host.ReadCheckpoint(text)
	if err != nil {
		return model, nil
	}
	switch {
	case d == nil && last.Model != "":
		return "", fmt.Errorf("state: the checkpoint in %s is of model %.12s, which was deployed, and %s is not there; "+
			"put it back, or move the folder away to begin anew", c.abs(c.State), last.Model, deployFile.name)
	case d != nil && last.Model == "":
		return d.First, nil
	}
	return last.Model, nil
}

// loadDeployed reads a model that was deployed, and looks whether it is what it was.
func (c *Config) loadDeployed(sum string) (*modelfile.Model, error) {
	path := c.modelPath(sum)
	got, err := sumOf(path)
	if err == nil && got != sum {
		err = fmt.Errorf("its SHA-256 is %.12s", got)
	}
	if err != nil {
		return nil, fmt.Errorf("model %.12s, which was deployed: %s: %w; put the file back", sum, path, err)
	}
	m, err := modelfile.Load(path)
	if err != nil {
		return nil, fmt.Errorf("model %.12s, which was deployed: %w", sum, err)
	}
	return m, nil
}

// sumOf returns the SHA-256 of a file.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// deployRoom is how much larger than those of the first model frames of another may be, in
// bytes.
const deployRoom = 1 << 20

// readModel reads the model that the box runs: that of the configuration, or one that was
// deployed since.
func (b *Box) readModel() (err error) {
	if b.deployed, err = b.readDeployment(); err != nil {
		return err
	}
	if b.runs, err = b.Config.running(b.deployed); err != nil {
		return err
	}
	if b.runs == "" {
		if b.model, err = b.loadModel(); err == nil {
			b.sum, err = sumOf(b.abs(b.Config.Model))
		}
		return err
	}
	b.sum = b.runs
	b.model, err = b.loadDeployed(b.runs)
	if b.log != nil && err == nil {
		b.log.Info("runs a model that was deployed, not that of the configuration", "model", b.runs[:12], "file", b.modelPath(b.runs))
	}
	return err
}

// modelName says where the model is.
func (b *Box) modelName() string {
	if b.runs == "" {
		return b.Config.Model
	}
	return filepath.Join(b.State, modelsName, b.runs[:12]+"….safetensors")
}

// describeDeployment says what was deployed.
func (b *Box) describeDeployment(d *deployment) string {
	text := fmt.Sprintf("model %.12s since step %d, by wdgnn swarm deploy; %s is not read", d.Model, d.Since, b.Config.Model)
	if b.runs != d.Model {
		text += fmt.Sprintf("; the checkpoint is of model %.12s, and goes over", b.runs)
	}
	if d.Since == 0 {
		text = fmt.Sprintf("none yet: model %.12s is that of the configuration", d.Model)
	}
	if a := d.Armed; a != nil && a.Done == nil && !a.Dropped {
		text += fmt.Sprintf("; armed with model %.12s for step %d, if all agree", a.Model, a.Step)
	}
	return text
}

// deploy gives a host what it is armed with, and how it is told of more.
func (b *Box) deploy(c *host.Config, e *host.Env) error {
	b.plan, c.Model = c.Plan, b.runs
	if b.deployer == nil {
		return nil
	}
	e.Orders, e.OnChange, c.Proof = b.deployer.orders, b.deployer.changed, b.deployer.proves
	d := b.deployed
	if d == nil {
		return nil
	}
	if c.Fence = d.Fence; d.Armed == nil {
		return nil
	}
	m, err := b.loadDeployed(d.Armed.Model)
	if err != nil {
		return err
	}
	s, err := b.succeed(m)
	if err != nil {
		return fmt.Errorf("model %.12s, which this box is armed with: %w", d.Armed.Model, err)
	}
	b.deployer.made[d.Armed.Model] = s
	c.Change = &host.Change{
		ID: d.Armed.ID, Step: d.Armed.Step, Model: d.Armed.Model, Plan: s.plan, Seed: s.seed, Reset: d.Armed.Reset,
		Dropped: d.Armed.Dropped, Done: d.Armed.Done, Before: d.Armed.Before,
	}
	return nil
}

// writer returns what writes a text.
func writer(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// successor is a model made a plan, for this box.
type successor struct {
	plan  *agent.Plan
	seed  []agent.Memory
	after uint64 // the last change, when it was staged
}

// succeed makes the plan of a model that is to follow, and says why it cannot: nodes
// must observe and answer the same.
func (b *Box) succeed(m *modelfile.Model) (*successor, error) {
	if cost, err := b.Config.cost(m); err != nil {
		return nil, err
	} else if cost != b.cost {
		return nil, fmt.Errorf("its targets are %s, those of the model that runs are %s", cost, b.cost)
	}
	p, err := b.Plan(m)
	if err != nil {
		return nil, err
	}
	if err := b.fits(p); err != nil {
		return nil, err
	}
	other := &Box{Config: b.Config, nodes: b.nodes, model: m}
	seed, err := other.readSeed(p)
	return &successor{plan: p, seed: seed}, err
}

// fits reports what keeps nodes of this box from going over to a plan.
func (b *Box) fits(p *agent.Plan) error {
	now := b.plan
	if in, out := now.Model.Config.In, now.Model.Outputs(); p.Model.Config.In != in || p.Model.Outputs() != out {
		return fmt.Errorf("it has %d inputs and %d outputs, the model that runs %d and %d; what boxes read and answer must stay",
			p.Model.Config.In, p.Model.Outputs(), in, out)
	}
	if most := host.MaxFrame(p); b.mostFrame > 0 && most > b.mostFrame {
		return fmt.Errorf("its frames have up to %d bytes, these boxes take %d; start them again with the new model", most, b.mostFrame)
	}
	return sameSensors(now.Forecast, p.Forecast)
}
