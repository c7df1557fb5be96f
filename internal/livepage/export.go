package livepage

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"github.com/wdgnn/wdgnn/internal/live"
)

// served are the parts of index.html that only a server can fill.
var served = regexp.MustCompile(`(?s)<!-- served -->.*?<!-- /served -->\n`)

// Export writes a recording as one file: the page, and in it all that is to be
// seen. A browser plays it from a disk, without a server or a network; the
// file's policy forbids it to load anything. Numbers are rounded to what can be
// seen. The same recording gives the same bytes.
func Export(w io.Writer, r *live.Recording) error {
	shell, err := newShell(Files())
	if err != nil {
		return err
	}
	run, err := packRun(r)
	if err != nil {
		return fmt.Errorf("livepage: %w", err)
	}
	const begin = `%s<script type="application/json" id="recording">{"run":%q,"piece":%d,"pieces":[`
	if _, err := fmt.Fprintf(w, begin, shell.before, run, pieceFrames); err != nil {
		return err
	}
	for from := 0; from < r.Frames(); from += pieceFrames {
		piece, err := packPiece(r, from)
		if err != nil {
			return fmt.Errorf("livepage: %w", err)
		}
		comma := ",\n"
		if from == 0 {
			comma = "\n"
		}
		if _, err := fmt.Fprintf(w, "%s%q", comma, piece); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "]}</script>\n%s", shell.after)
	return err
}

// shell is the page around a recording.
type shell struct{ before, after string }

// newShell puts styles and scripts into the page, where links to them were, and
// a policy that allows exactly these.
func newShell(files fs.FS) (*shell, error) {
	in := inliner{files: files}
	style := in.style("uplot.css", "style.css", "knobs.css")
	chart := in.script("", "/* uPlot:\n"+in.read("uplot.LICENSE")+"*/\n"+withoutBanner(in.read("uplot.js")))
	player := in.script(` type="module"`, in.bundle("player.js"))
	icon := base64.StdEncoding.EncodeToString([]byte(in.read("icon.svg")))
	page := served.ReplaceAllString(in.read("index.html"), "")
	if in.err != nil {
		return nil, in.err
	}
	policy := fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; img-src data:; base-uri 'none'; form-action 'none'",
		strings.Join(in.styles, " "), strings.Join(in.scripts, " "))
	head := fmt.Sprintf(`<meta http-equiv="Content-Security-Policy" content="%s">
<link rel="icon" href="data:image/svg+xml;base64,%s">
`, policy, icon)
	charset, rest, ok1 := strings.Cut(page, "<meta name=\"viewport\"")
	rest, body, ok2 := strings.Cut(rest, "</head>\n")
	body, end, ok3 := strings.Cut(body, "</body>\n")
	if !ok1 || !ok2 || !ok3 {
		return nil, errors.New("livepage: index.html has no viewport, head or body to put things into")
	}
	return &shell{
		before: charset + head + `<meta name="viewport"` + rest + style + "</head>\n" + body,
		after:  chart + player + "</body>\n" + end,
	}, nil
}

// withoutBanner leaves a library's first comment out; its licence stands there.
func withoutBanner(text string) string {
	if _, rest, ok := strings.Cut(text, "*/\n"); ok && strings.HasPrefix(text, "/*") {
		return rest
	}
	return text
}

// inliner turns files into elements and keeps their hashes, and the first error.
type inliner struct {
	files           fs.FS
	styles, scripts []string
	err             error
}

func (in *inliner) read(name string) string {
	text, err := fs.ReadFile(in.files, name)
	if err != nil && in.err == nil {
		in.err = fmt.Errorf("livepage: %w", err)
	}
	return string(text)
}

func (in *inliner) bundle(entry string) string {
	text, err := bundle(in.files, entry)
	if err != nil && in.err == nil {
		in.err = err
	}
	return text
}

func (in *inliner) style(names ...string) string {
	var text strings.Builder
	for _, name := range names {
		text.WriteString(in.read(name) + "\n")
	}
	return in.element(&in.styles, "style", "", text.String())
}

func (in *inliner) script(attributes, text string) string {
	return in.element(&in.scripts, "script", attributes, text)
}

// element writes text that nothing in it can end early.
func (in *inliner) element(hashes *[]string, tag, attributes, text string) string {
	for _, bad := range []string{"</" + tag, "<!--"} {
		if strings.Contains(strings.ToLower(text), bad) && in.err == nil {
			in.err = fmt.Errorf("livepage: a %s holds %q and cannot stand in the page", tag, bad)
		}
	}
	sum := sha256.Sum256([]byte(text))
	*hashes = append(*hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	return "<" + tag + attributes + ">" + text + "</" + tag + ">\n"
}
