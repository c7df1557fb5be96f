package wdgnn

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rules says who may import whom inside the module. It is policy: change it in
// a commit of its own, with a reason. Tests are exempt: a test may import
// across.
//
// "." is this package, "*" stands for every package but commands.
const rules = `
	.                   :
	mat                 : internal/kernel
	graph               : mat random
	gnn                 : mat graph random
	loss                : mat
	optim               : internal/kernel
	train               : mat graph gnn loss optim random
	conformal           :
	forecast            : mat
	rule                : mat loss conformal
	online              : mat graph gnn loss rule conformal
	agent               : mat graph gnn loss rule conformal forecast
	agent/agenttest     : mat graph loss agent
	internal/idlist     :
	internal/strictjson :
	transport           : internal/idlist
	transport/mem       : transport
	transport/natsbus   : transport
	transport/tcpbus    : transport
	transport/transporttest : transport
	random              :
	modelfile           : mat graph gnn forecast internal/strictjson
	internal/duration   :
	internal/data       : mat graph loss modelfile internal/duration
	internal/onnx       : gnn
	scenario/sourceloc  : mat graph loss
	scenario/flocking   : mat graph loss
	internal/kernel     :
	internal/alloctest  :
	internal/clocktest  :
	internal/twintest   : internal/strictjson
	internal/mqtttest   : internal/clocktest
	internal/mqtt       : internal/strictjson
	internal/config     : graph gnn loss optim train rule scenario/sourceloc scenario/flocking internal/duration
	internal/config/comments :
	internal/jsonfile   : modelfile
	internal/rundir     : modelfile internal/jsonfile
	internal/snapshot   : mat gnn rule conformal online agent modelfile
	internal/lifecycle  : mat graph gnn loss optim random train rule conformal forecast online modelfile scenario/sourceloc
	                      scenario/flocking internal/config internal/data internal/duration
	                      internal/onnx internal/recipe internal/robust internal/rundir internal/snapshot
	internal/recipe     : mat graph gnn loss optim random train rule online modelfile scenario/sourceloc
	                      scenario/flocking internal/jsonfile internal/robust
	internal/demo       : mat graph gnn loss online rule train modelfile internal/recipe internal/live
	internal/vector     :
	internal/crown      : mat gnn internal/vector
	internal/robust     : mat graph gnn random internal/crown
	internal/flock      : mat graph gnn random rule online modelfile scenario/flocking internal/recipe internal/live
	                      internal/grid
	internal/journal    :
	internal/journal/faultdisk : internal/journal
	internal/hostname   :
	internal/section    :
	internal/grid       :
	host                : agent conformal forecast graph loss mat rule transport internal/defect internal/idlist
	                      internal/strictjson
	internal/broker     : transport transport/natsbus internal/keys
	internal/keys       : internal/idlist transport transport/natsbus transport/tcpbus
	internal/box        : agent forecast gnn graph loss mat online rule modelfile transport transport/natsbus transport/tcpbus
	                      internal/config internal/data host internal/journal internal/keys internal/hostname internal/mqtt
	                      internal/duration internal/snapshot
	host/agentcmd       : mat rule internal/box
	internal/defect     :
	internal/script     :
	internal/sim        : agent gnn graph loss mat online random rule transport host internal/defect internal/journal
	                      internal/journal/faultdisk
	internal/swarm      : agent forecast gnn graph loss mat random rule online modelfile scenario/sourceloc scenario/flocking
	                      transport transport/mem transport/natsbus transport/tcpbus host internal/broker internal/keys
	                      internal/box internal/journal internal/recipe internal/flock internal/live internal/config internal/lifecycle
	                      internal/snapshot internal/grid
	internal/live       : modelfile
	internal/livepage   : internal/live
	internal/runview    : graph train modelfile internal/config internal/lifecycle internal/live internal/rundir
	internal/liveweb    : internal/live internal/livepage internal/hostname internal/strictjson
	internal/paper/theory : mat graph gnn loss rule online internal/crown internal/vector
	internal/paper/certify : mat graph gnn loss random rule online modelfile internal/config internal/crown internal/data
	                       internal/lifecycle internal/robust internal/paper/theory
	internal/paper/baseline : internal/shop/movies
	internal/paper/figure : modelfile
	internal/paper/reproduce/study : mat modelfile internal/paper/figure internal/grid internal/jsonfile
	internal/paper/reproduce/study/studytest : random internal/paper/reproduce/study
	internal/paper/reproduce/sourceloc : gnn graph loss mat online rule train scenario/sourceloc internal/recipe
	                       internal/paper/reproduce/study
	internal/paper/reproduce/flocking : gnn graph mat rule scenario/flocking internal/recipe internal/paper/reproduce/study
	internal/paper/reproduce/movies : gnn graph loss mat online random rule train modelfile internal/shop/movies
	                       internal/paper/baseline internal/shop/dataset internal/recipe internal/shop/movierecipe
	                       internal/shop/recommend internal/paper/reproduce/study
	internal/paper/reproduce/theory : graph loss mat online train modelfile internal/paper/theory scenario/flocking
	                       internal/paper/certify internal/recipe internal/robust internal/paper/reproduce/study
	                       internal/paper/reproduce/sourceloc internal/paper/reproduce/flocking internal/crown
	internal/paper/reproduce/agents : agent gnn graph loss mat online rule scenario/flocking internal/recipe
	                       internal/paper/reproduce/study internal/paper/reproduce/sourceloc internal/paper/reproduce/flocking
	internal/paper/reproduce/traffic : online random train modelfile internal/config internal/lifecycle internal/paper/reproduce/study
	                       internal/shop/dataset
	internal/paper/reproduce : internal/paper/reproduce/study internal/paper/reproduce/sourceloc internal/paper/reproduce/flocking
	                       internal/paper/reproduce/movies internal/paper/reproduce/theory internal/paper/reproduce/agents
	                       internal/paper/reproduce/traffic
	internal/shop/movies : mat graph
	internal/shop/movierecipe : mat graph gnn loss optim random train internal/config internal/lifecycle internal/recipe
	                      internal/shop/dataset internal/shop/movies
	internal/shop/dataset : internal/shop/movies internal/data
	internal/shop/recommend : mat graph gnn optim loss random train rule online modelfile internal/journal
	                      internal/shop/dataset internal/shop/movies internal/strictjson
	internal/shop/serve : internal/live internal/liveweb internal/shop/movies internal/shop/recommend
	internal/perf       : mat graph gnn loss optim random train rule online scenario/flocking
	bench/report        : internal/perf internal/section bench/agents
	bench/agents        : agent gnn graph loss mat online rule random modelfile scenario/flocking transport transport/natsbus host
	                      internal/broker internal/keys internal/box internal/recipe internal/flock internal/swarm
	bench/soak          : agent host random internal/data
	doc/answers         : internal/section
	doc/check           :
	doc/report          : modelfile internal/paper/reproduce internal/paper/reproduce/study internal/section
	doc/screenshots     :
	doc/site            : mat modelfile train internal/demo internal/livepage
	doc/site/worker     : modelfile internal/demo internal/live
	examples/tiny       :
	examples/forecast   : forecast gnn graph loss mat online optim random rule train
	cmd/wdgnn           : *
	cmd/wdgnn-agent     : host/agentcmd
`

// shell lists the packages that touch the world; every other one only
// computes, and is called "library" below. "product" below is every package but
// cmd/wdgnn and those of bench, "house" every one outside internal/paper and internal/shop
// but cmd/wdgnn and instruments, "timeless" every library package but forecast,
// which does arithmetic with the times of readings and reads no clock.
const shell = `
	transport transport/mem transport/natsbus transport/tcpbus transport/transporttest host host/agentcmd internal/defect internal/script
	internal/broker internal/keys internal/box internal/sim internal/swarm internal/live internal/hostname
	cmd/wdgnn-agent
	modelfile internal/config internal/config/comments internal/data
	internal/jsonfile internal/rundir internal/shop/dataset internal/paper/figure
	internal/snapshot internal/duration internal/alloctest internal/clocktest internal/twintest internal/mqtttest internal/mqtt
	internal/lifecycle internal/recipe internal/demo internal/paper/certify internal/paper/reproduce internal/paper/reproduce/study
	internal/paper/reproduce/study/studytest internal/paper/reproduce/sourceloc internal/paper/reproduce/flocking
	internal/paper/reproduce/movies internal/paper/reproduce/theory internal/paper/reproduce/agents internal/paper/reproduce/traffic
	internal/flock internal/journal
	internal/journal/faultdisk internal/liveweb internal/shop/movierecipe internal/shop/recommend internal/shop/serve internal/perf
	bench/report bench/agents bench/soak doc/answers doc/check
	doc/report doc/screenshots doc/site doc/site/worker examples/tiny examples/forecast internal/runview cmd/wdgnn
`

// outside says which modules beside the standard library a package may use;
// "library" stands for all that are not named.
const outside = `
	library         : gonum.org/v1/gonum golang.org/x/sys
	internal/config : go.yaml.in/yaml/v3
	internal/paper/figure : gonum.org/v1/plot gonum.org/v1/gonum
	internal/shop/serve : github.com/prometheus/client_golang
	internal/box    : github.com/prometheus/client_golang
	internal/broker : github.com/nats-io
	internal/mqtt   : github.com/eclipse/paho.mqtt.golang
	internal/keys   : github.com/nats-io/nkeys golang.org/x/crypto/bcrypt
	transport/natsbus : github.com/nats-io/nats.go github.com/nats-io/nkeys
	internal/flock  : github.com/foxglove/mcap
	doc/screenshots : github.com/chromedp
	cmd/wdgnn       : *
`

// bans are imports that somebody will want one day, each with the reason why
// not. Packages and imports are paths; an import covers what lies below it.
var bans = []ban{
	{
		"internal/kernel", "*", "math unsafe golang.org/x/sys/cpu",
		"a kernel is a loop over numbers; its specification must be readable without anything else",
	},
	{"library", "os net log syscall flag", "", "the core computes and the shell touches the world: " +
		"files, network, logs and flags belong to the program, and a simulation must not depend on them"},
	{
		"library", "math/rand", "math/rand/v2",
		"its package-level generator is state that everybody shares; take a *rand.Rand from package random",
	},
	{"library", "crypto/rand", "", "a run must be repeatable from its seed"},
	{"timeless", "time", "", "a run must be repeatable from its seed, whatever the hour; the caller measures time"},
	{"library", "C", "", "go install must give everybody the full speed without a C compiler"},
	{"mat", "math/rand/v2", "", "a product depends on its operands alone"},
	{"graph", module + "/gnn", "", "graphs do not know what learns on them"},
	{"loss", module + "/gnn", "", "a cost judges an output, whatever model it came from; so users can bring their own of either"},
	{"gnn", module + "/loss", "", "a model gives an output and takes a gradient; what the output is worth is not its business"},
	{"rule", module + "/gnn", "", "a rule moves a vector of parameters, whatever model they belong to; agents and simulations share it"},
	{
		"agent", module + "/online sync time context math/rand math/rand/v2 log os net", "",
		"an agent is a pure state machine: events in, messages out; clocks, networks and schedules belong to its host",
	},
	{"online", module + "/scenario", "", "a learner adapts to whatever world reveals a cost"},
	{"product", module + "/bench", "", "what only measures stays out of what users build and deploy; commands that print figures may call it"},
	{
		"house", module + "/internal/paper " + module + "/internal/shop", "",
		"who reads or deploys the rest needs neither the paper's tables nor the recommender: the program links them in; " +
			"move what is shared out of them",
	},
	{
		"internal/shop", module + "/internal/paper", "",
		"the recommender is of use without the paper's tables; what they share is the recommender's",
	},
	{"optim", module + "/gnn", "", "an optimizer sees one slice of numbers; so consensus, checkpoints and tests can use it on any"},
}

const module = "github.com/wdgnn/wdgnn"

// ban forbids packages that match from to import what matches any of paths,
// except what matches any of but.
type ban struct{ from, paths, but, reason string }

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		if !known(p.path) {
			t.Errorf("package %s is not in the import policy: add a line %q to rules in arch_test.go with the packages it may import, "+
				"and a row to ARCHITECTURE.md", p.path, p.path+" :")
			continue
		}
		for _, i := range p.imports {
			if complaint := judge(p.path, i.path); complaint != "" {
				t.Errorf("%s: %s", i.at, complaint)
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		want := "Package " + p.name + " "
		if p.name == "main" {
			want = "Command " + path.Base(p.path) + " "
		}
		if !strings.HasPrefix(p.doc, want) {
			t.Errorf("package %s: its comment begins %q, want %q: say in doc.go what the package is for", p.path, firstLine(p.doc), want)
		}
		// Indexes of packages show the first sentence; for them "eq. (5)" ends it.
		if first := new(doc.Package).Synopsis(p.doc); strings.HasSuffix(first, "eq.") {
			t.Errorf("package %s: lists show %q: keep equation numbers out of the first sentence", p.path, first)
		}
	}
}

// The module's front page lists every package that is for others to import.
func TestFrontPage(t *testing.T) {
	all := packages(t)
	front := all[slices.IndexFunc(all, func(p *pkg) bool { return p.path == "." })].doc
	for _, p := range all {
		public := p.path != "." && p.name != "main" && !measures(p.path) && !slices.Contains(strings.Split(p.path, "/"), "internal")
		if listed := strings.Contains(front, "\n\t"+p.path+" "); listed != public {
			t.Errorf("doc.go lists package %s: got %t, want %t: one line with its path and what it is for", p.path, listed, public)
		}
	}
}

// The page that newcomers read lists every package.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages(t) {
		if row := "| `" + p.path + "` |"; p.path != "." && !strings.Contains(string(page), row) {
			t.Errorf("ARCHITECTURE.md has no row for package %s: want a line with %q", p.path, row)
		}
	}
}

// The policy refuses what it should.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     string // a part of the complaint; empty means allowed
	}{
		{"loss", module + "/mat", ""},
		{"loss", module + "/gnn", "whatever model it came from"},
		{"optim", module + "/mat", "rules in arch_test.go let it import internal/kernel"},
		{"random", module + "/mat", "rules in arch_test.go let it import nothing of this module"},
		{"train", module + "/cmd/wdgnn", "commands are not imported"},
		{"cmd/wdgnn", module + "/cmd/other", "commands are not imported"},
		{"cmd/wdgnn", module + "/train", ""},
		{"cmd/wdgnn", "github.com/spf13/cobra", ""},
		{"cmd/wdgnn", "os", ""},
		{"train", "github.com/spf13/cobra", "outside the standard library"},
		{"graph", "gonum.org/v1/gonum/mat", ""},
		{"graph", "gonum.org/v1/plot", "outside the standard library"},
		{"internal/kernel", "golang.org/x/sys/cpu", ""},
		{"internal/kernel", "math/bits", "a loop over numbers"},
		{"internal/kernel", "fmt", "a loop over numbers"},
		{"train", "os", "the shell touches the world"},
		{"modelfile", "os", ""},
		{"modelfile", "go.yaml.in/yaml/v3", "outside the standard library"},
		{"internal/config", "go.yaml.in/yaml/v3", ""},
		{"train", "net/http", "the shell touches the world"},
		{"train", "time", "repeatable from its seed"},
		{"forecast", "time", ""},
		{"graph", "math/rand", "package-level generator"},
		{"graph", "math/rand/v2", ""},
		{"mat", "math/rand/v2", "its operands alone"},
		{"internal/swarm", module + "/bench/agents", "what only measures"},
		{"cmd/wdgnn-agent", module + "/bench/agents", "what only measures"},
		{"cmd/wdgnn", module + "/bench/agents", ""},
		{"internal/robust", module + "/internal/paper/theory", "links them in"},
		{"internal/lifecycle", module + "/internal/shop/movies", "links them in"},
		{"cmd/wdgnn-agent", module + "/internal/shop/serve", "links them in"},
		{"internal/shop/recommend", module + "/internal/paper/baseline", "of use without"},
		{"internal/paper/reproduce/movies", module + "/internal/shop/recommend", ""},
		{"doc/report", module + "/internal/paper/reproduce", ""},
		{"cmd/wdgnn", module + "/internal/paper/theory", ""},
	} {
		got := judge(c.from, c.to)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s imports %s: complaint %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

// judge returns what is wrong with package from importing the given path, or
// nothing.
func judge(from, path string) string {
	for _, b := range bans {
		if !applies(b.from, from) || !covers(b.paths, path) {
			continue
		}
		exempt := covers(b.but, path)
		if b.paths == "*" {
			exempt = slices.Contains(strings.Fields(b.but), path)
		}
		if !exempt {
			return fmt.Sprintf("%s must not import %s: %s", from, path, b.reason)
		}
	}
	if inner, ok := strings.CutPrefix(path+"/", module+"/"); ok {
		return judgeInner(from, strings.TrimSuffix(inner, "/"))
	}
	first, _, _ := strings.Cut(path, "/")
	if strings.Contains(first, ".") && !covers(modules(from), path) {
		return fmt.Sprintf("%s must not import %s: of what lies outside the standard library it may use only %s; the rest belongs to the program",
			from, path, strings.ReplaceAll(modules(from), " ", " and "))
	}
	return ""
}

// modules returns the modules outside the standard library that pkg may use.
func modules(pkg string) string {
	if words, ok := fields(outside)[pkg]; ok {
		return words
	}
	return fields(outside)["library"]
}

func judgeInner(from, to string) string {
	if isCommand(to) {
		return fmt.Sprintf("%s must not import %s: commands are not imported; move what is shared into a package", from, to)
	}
	allowed := fields(rules)[from]
	if allowed == "*" || slices.Contains(strings.Fields(allowed), to) {
		return ""
	}
	if allowed == "" {
		allowed = "nothing of this module"
	}
	return fmt.Sprintf("%s must not import %s: the rules in arch_test.go let it import %s", from, to, allowed)
}

func known(pkg string) bool {
	_, ok := fields(rules)[pkg]
	return ok
}

// fields reads lines of the form "key : words". A line without a colon goes on
// with the words of the one before.
func fields(text string) map[string]string {
	m, key := map[string]string{}, ""
	for line := range strings.Lines(text) {
		words := line
		if before, after, ok := strings.Cut(line, ":"); ok {
			key, words = strings.TrimSpace(before), after
			m[key] = ""
		}
		if key != "" {
			m[key] = strings.Join(strings.Fields(m[key]+" "+words), " ")
		}
	}
	return m
}

// applies says whether a ban for from speaks of package pkg.
func applies(from, pkg string) bool {
	switch from {
	case "library":
		return !slices.Contains(strings.Fields(shell), pkg)
	case "timeless":
		return applies("library", pkg) && pkg != "forecast"
	case "house":
		return pkg != "cmd/wdgnn" && !covers("internal/paper internal/shop "+instruments, pkg)
	case "internal/shop":
		return covers(from, pkg)
	case "product":
		return pkg != "cmd/wdgnn" && !measures(pkg)
	}
	return from == pkg
}

// instruments measure, write pages or show how it is done; nothing is made of them.
const instruments = "bench doc examples tools internal/perf"

// measures says whether all that a package does is to measure others.
func measures(pkg string) bool { return strings.HasPrefix(pkg, "bench/") }

// covers says whether path is one of paths or lies below one; "*" covers all.
func covers(paths, path string) bool {
	for _, p := range strings.Fields(paths) {
		if p == "*" || p == path || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

func isCommand(pkg string) bool { return strings.HasPrefix(pkg, "cmd/") }

// pkg is a package of the module, as its files other than tests show it.
type pkg struct {
	path    string // below the module; "." at the root
	name    string
	doc     string
	imports []imported
}

type imported struct{ path, at string }

// packages reads the module's packages from the files, whatever system they
// are for. Folders with a go.mod of their own are other modules.
func packages(t *testing.T) []*pkg {
	t.Helper()
	found := map[string]*pkg{}
	var order []*pkg
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(file, "go.mod"))
			if file != "." && (name[0] == '.' || name[0] == '_' || name == "testdata" || err == nil) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name[0] == '.' || name[0] == '_' {
			return nil
		}
		syntax, err := parser.ParseFile(files, file, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(file))
		p := found[dir]
		if p == nil {
			p = &pkg{path: dir, name: syntax.Name.Name}
			found[dir] = p
			order = append(order, p)
		}
		return p.add(files, syntax)
	})
	if err != nil {
		t.Fatal(err)
	}
	return order
}

func (p *pkg) add(files *token.FileSet, syntax *ast.File) error {
	if p.doc == "" {
		p.doc = syntax.Doc.Text()
	}
	for _, spec := range syntax.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		at := files.Position(spec.Pos())
		p.imports = append(p.imports, imported{path, fmt.Sprintf("%s:%d", filepath.ToSlash(at.Filename), at.Line)})
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
