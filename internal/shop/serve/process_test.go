package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/shop/recommend"
	"github.com/wdgnn/wdgnn/mat"
)

// binary builds the program once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "wdgnn-binary")
	if err != nil {
		return "", err
	}
	args := []string{"build", "-o", filepath.Join(dir, "wdgnn")}
	if mat.Family() == "portable" { // the same bits as in this process
		args = append(args, "-tags", "purego")
	}
	if out, err := exec.Command("go", append(args, "github.com/wdgnn/wdgnn/cmd/wdgnn")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "wdgnn"), nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	closeBrowser()
	if built {
		if path, err := binary(); err == nil {
			os.RemoveAll(filepath.Dir(path))
		}
	}
	os.Exit(code)
}

var built bool // binary was called by a test

// process is the program, serving.
type process struct {
	command *exec.Cmd
	url     string
	client  *http.Client
	ended   chan error
	log     *tail
}

// tail keeps what a process says.
type tail struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *tail) add(line string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.text.WriteString(line + "\n")
}

func (l *tail) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

var address = regexp.MustCompile(`msg=serving address=(\S+)`)

// starts skips a test that starts programs where that does not work, or where only
// what runs in this process is watched.
func starts(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skipf("SKIPPED %s: it starts processes, and -short is set", t.Name())
	}
	if host, err := exec.Command("go", "env", "GOHOSTARCH").Output(); err == nil && strings.TrimSpace(string(host)) != runtime.GOARCH {
		t.Skipf("SKIPPED %s: an emulated test cannot start programs", t.Name())
	}
}

// launch starts wdgnn serve and waits until it serves.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	return launchUntil(t, address, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
}

// launchUntil starts the program and waits until it says where it serves.
func launchUntil(t *testing.T, address *regexp.Regexp, args ...string) *process {
	t.Helper()
	starts(t)
	built = true
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{
		command: exec.Command(path, args...),
		client:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: time.Minute},
		ended:   make(chan error, 1), log: &tail{},
	}
	stderr, err := p.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.command.Stdout = p.command.Stderr
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.log.add(lines.Text())
			if m := address.FindStringSubmatch(lines.Text()); m != nil {
				ready <- m[1]
			}
		}
		p.ended <- p.command.Wait()
	}()
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	select {
	case p.url = <-ready:
	case err := <-p.ended:
		t.Fatalf("the service ended: %v\n%s", err, p.log)
	case <-time.After(2 * time.Minute):
		t.Fatalf("the service does not start\n%s", p.log)
	}
	return p
}

// get reads JSON.
func (p *process) get(t *testing.T, path string, into any) int {
	t.Helper()
	a, err := p.client.Get(p.url + path)
	if err != nil {
		t.Fatal(err)
	}
	text := readBody(t, a)
	if a.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	return a.StatusCode
}

// rate posts a rating; ok says that it was acknowledged.
func (p *process) rate(user, movie int, rating float64) (out recommend.Rated, ok bool) {
	body := fmt.Sprintf(`{"user": %d, "movie": %d, "rating": %v}`, user, movie, rating)
	a, err := p.client.Post(p.url+"/v1/ratings", "application/json", strings.NewReader(body))
	if err != nil {
		return out, false
	}
	defer a.Body.Close()
	err = json.NewDecoder(a.Body).Decode(&out)
	return out, err == nil && a.StatusCode == http.StatusOK
}
