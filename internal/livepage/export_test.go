package livepage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wdgnn/wdgnn/internal/live"
)

// The file holds the recording and names nobody else: no address, nothing that
// loads, and a policy that forbids it.
func TestExport(t *testing.T) {
	const hostile = `</script><script src="//evil.example/x.js">`
	scene := live.Scene{Title: hostile, Layout: live.LayoutFixed, Nodes: []string{hostile}, Positions: live.Floats{0, 0}}
	var frames []*live.Frame
	for k := range 2*pieceFrames + 1 {
		frames = append(frames, &live.Frame{Time: float64(k), Down: []int32{}})
	}
	r := record(t, scene, frames...)
	var b, again bytes.Buffer
	if err := Export(&b, r); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	page, data, _ := strings.Cut(text, `<script type="application/json" id="recording">`)
	data, scripts, _ := strings.Cut(data, "</script>")
	for _, bad := range []string{
		`https?:`, `//[a-z0-9-]+\.[a-z]`, `\bsrc\s*=`, `\bhref="[^#d]`, `url\(`, `@import`, `\bfetch\(`, `XMLHttpRequest`, `WebSocket`,
		`EventSource`, `import\(`, `(?m)^(?:import|export) `, `<form`, `type="password"`, `<!-- served`, `unsafe`, `evil`,
	} {
		if found := regexp.MustCompile(`(?i)` + bad).FindString(text); found != "" {
			t.Errorf("the file contains %q", found)
		}
	}
	if !regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[^']+'; ` +
		`script-src 'sha256-[^']+' 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'">`).MatchString(page) {
		t.Errorf("the policy of %.400q is not the one that allows three elements by their hashes", page)
	}
	if !strings.Contains(scripts, "Copyright (c) 2022 Leon Sorokin") {
		t.Error("uPlot is there without its licence")
	}
	var file struct {
		Run    string
		Piece  int
		Pieces []string
	}
	if err := json.Unmarshal([]byte(data), &file); err != nil {
		t.Fatal(err)
	}
	var run live.Recording
	inflate(t, file.Run, &run)
	if run.Scene.Title != hostile || len(run.Times) != len(frames) || run.Times[200] != 200 {
		t.Errorf("got %q with %d times, want %q with %d", run.Scene.Title, len(run.Times), hostile, len(frames))
	}
	var last piece
	inflate(t, file.Pieces[len(file.Pieces)-1], &last)
	if len(file.Pieces) != 3 || file.Piece != pieceFrames || len(last.Frames) != 1 || string(last.Frames[0]["t"]) != "200" {
		t.Errorf("got %d pieces of %d, the last with %d frames, want 3 of %d and one frame at 200",
			len(file.Pieces), file.Piece, len(last.Frames), pieceFrames)
	}
	if err := Export(&again, r); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("a second export differs (%v)", err)
	}
	t.Logf("%d bytes, of which the recording has %d", len(text), len(data))
}

// What cannot be written is an error, wherever the disk is full.
func TestExportFails(t *testing.T) {
	r := record(t, live.Scene{Layout: live.LayoutNone}, &live.Frame{})
	for _, room := range []int{0, 1 << 10, 1 << 14, 100_000} {
		if err := Export(&fullDisk{room}, r); err == nil {
			t.Errorf("%d bytes of room: no error", room)
		}
	}
}

// fullDisk takes so many bytes.
type fullDisk struct{ room int }

func (d *fullDisk) Write(text []byte) (int, error) {
	if d.room -= len(text); d.room < 0 {
		return 0, fmt.Errorf("no space left on device")
	}
	return len(text), nil
}

// A flight of a large team is small enough to send.
func TestExportSize(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it packs long flights; it runs without -short", t.Name())
	}
	for _, c := range []struct{ robots, frames, most int }{{50, 200, 300_000}, {400, 60, 500_000}} {
		scene := live.Scene{Layout: live.LayoutMoving}
		for i := range c.robots {
			scene.Nodes = append(scene.Nodes, fmt.Sprintf("robot %d", i))
		}
		var frames []*live.Frame
		for k := range c.frames {
			frames = append(frames, swirl(c.robots, float64(k)*0.01))
		}
		var b bytes.Buffer
		if err := Export(&b, record(t, scene, frames...)); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d robots, %d frames: %d bytes", c.robots, c.frames, b.Len())
		if b.Len() > c.most {
			t.Errorf("%d robots, %d frames: got %d bytes, want at most %d", c.robots, c.frames, b.Len(), c.most)
		}
	}
}

// swirl is a team at time t: robots on a sunflower, each on a circle of its own,
// linked within a radius of 2 m.
func swirl(n int, t float64) *live.Frame {
	f := &live.Frame{Time: t, Links: [][2]int32{}, Down: []int32{}}
	for i := range n {
		far, phase, speed := math.Sqrt(float64(i)), 2.4*float64(i), 1+math.Mod(0.618*float64(i), 3)
		turn := speed*t + 5*phase
		f.Positions = append(f.Positions, float32(far*math.Cos(phase)+math.Sin(turn)), float32(far*math.Sin(phase)-math.Cos(turn)))
		f.Velocities = append(f.Velocities, float32(speed*math.Cos(turn)), float32(speed*math.Sin(turn)))
		for j := range i {
			if math.Hypot(float64(f.Positions[2*i]-f.Positions[2*j]), float64(f.Positions[2*i+1]-f.Positions[2*j+1])) < 2 {
				f.Links = append(f.Links, [2]int32{int32(j), int32(i)})
			}
		}
	}
	return f
}

// Forms of imports that are not understood are errors, not scripts that break
// in somebody's browser.
func TestBundle(t *testing.T) {
	for _, c := range []struct{ name, main, other, want string }{
		{"names", `import { a as b } from "./other.js";`, "export const a = 1;", `const { a: b } = modules["other.js"];`},
		{"all", `import * as o from "./other.js";`, "export async function a() {}", "return { a };"},
		{"a default", `import o from "./other.js";`, "", "form that cannot be bundled"},
		{"later", `const o = await import("./other.js");`, "", "form that cannot be bundled"},
		{"a list", `export { a };`, "", "form that cannot be bundled"},
		{"what is not there", `import { a } from "./none.js";`, "", "none.js"},
		{"a circle", `import { a } from "./other.js";`, `import { b } from "./main.js";`, "main.js needs itself"},
	} {
		got, err := bundle(fstest.MapFS{"main.js": {Data: []byte(c.main)}, "other.js": {Data: []byte(c.other)}}, "main.js")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A script that would end its element early is refused.
func TestShellRefuses(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"index.html": "<meta name=\"viewport\"></head>\n</body>\n", "icon.svg": "", "player.js": "", "style.css": "", "knobs.css": "",
		"uplot.css": "", "uplot.js": "", "uplot.LICENSE": "",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	if _, err := newShell(files); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	for name, text := range map[string]string{
		"player.js": `const x = "</SCRIPT>";`, "uplot.js": "<!-- x", "style.css": "</style>", "index.html": "<html>",
	} {
		good := files[name]
		files[name] = &fstest.MapFile{Data: []byte(text)}
		if _, err := newShell(files); err == nil {
			t.Errorf("%s with %q: no error", name, text)
		}
		files[name] = good
	}
}
