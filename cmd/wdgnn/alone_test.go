package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// A node may be alone, and so may all be: whatever is done with a network is done with
// one of one node and with one that has lost all links.
func TestNetworksWithoutLinks(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		t.Chdir(t.TempDir())
		const steps = 40
		x, y := drawn(random.Stream(1, "alone"), steps*nodes), make([]float32, steps*nodes)
		for k, v := range x {
			if v > 0 {
				y[k] = 1
			}
		}
		for name, values := range map[string][]float32{"x.npy": x, "y.npy": y} {
			if err := modelfile.SaveArray(name, []int{steps, nodes}, values); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string]string{
			"g.csv": "src,dst\n", "config.yaml": `data: {graph: g.csv, signals: x.npy, targets: y.npy, task: classify}
model: {wide: {order: 2}, deep: [{order: 2, features: 4}]}
train: {epochs: 3, outage: {to: 0.2}, inputs: {scale: full}}
online: {stream: {signals: x.npy, targets: y.npy}}
`,
		} {
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		model := filepath.Join("run", "model.safetensors")
		expect(t, "train config.yaml -q", exitOK, "model ")
		expect(t, "online "+model+" config.yaml -q", exitOK, "model ")
		expect(t, "predict online/adapted.safetensors --graph g.csv --signals x.npy --out p.npy", exitOK, "wrote ")
		expect(t, "certify "+model+" --graph g.csv --signals x.npy -q", exitOK, "100.0 %) cannot be flipped by any one lost link")
		expect(t, "swarm up --model "+model+" --config config.yaml --bus mem --verify -q", exitOK, "the same bits as one process")
	}
}
