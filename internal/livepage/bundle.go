package livepage

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// The forms of imports and exports that the page's scripts have. A line that
// begins with either word and has another form is an error.
var (
	importNames  = regexp.MustCompile(`(?m)^import \{ ([^}]+) \} from "\./([a-z]+\.js)";$`)
	importModule = regexp.MustCompile(`(?m)^import \* as (\w+) from "\./([a-z]+\.js)";$`)
	exported     = regexp.MustCompile(`(?m)^export ((?:async function|function|class|const) (\w+))`)
	otherForm    = regexp.MustCompile(`(?m)^(?:import|export)\b.*$|\bimport\(.*$`)
)

// bundle joins a script and all that it imports into one that imports nothing:
// browsers load no modules from a disk. Each module becomes a function whose
// names are its own and which returns what it exports; those that others need
// come first.
func bundle(files fs.FS, entry string) (string, error) {
	b := bundler{files: files, state: map[string]moduleState{}}
	b.out.WriteString("const modules = {};\n")
	if err := b.add(entry); err != nil {
		return "", fmt.Errorf("livepage: %w", err)
	}
	return b.out.String(), nil
}

type moduleState int

const (
	moduleBegun moduleState = iota + 1
	moduleDone
)

type bundler struct {
	files fs.FS
	state map[string]moduleState
	out   strings.Builder
}

// add writes a module behind those that it needs, once.
func (b *bundler) add(name string) error {
	switch b.state[name] {
	case moduleDone:
		return nil
	case moduleBegun:
		return fmt.Errorf("%s needs itself", name)
	}
	b.state[name] = moduleBegun
	raw, err := fs.ReadFile(b.files, name)
	if err != nil {
		return err
	}
	text := string(raw)
	for _, form := range []*regexp.Regexp{importNames, importModule} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			if err := b.add(m[2]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	var names []string
	for _, m := range exported.FindAllStringSubmatch(text, -1) {
		names = append(names, m[2])
	}
	text = importNames.ReplaceAllStringFunc(text, func(line string) string {
		m := importNames.FindStringSubmatch(line)
		return fmt.Sprintf("const { %s } = modules[%q];", strings.ReplaceAll(m[1], " as ", ": "), m[2])
	})
	text = importModule.ReplaceAllString(text, `const $1 = modules["$2"];`)
	text = exported.ReplaceAllString(text, "$1")
	if line := otherForm.FindString(text); line != "" {
		return fmt.Errorf("%s: %.80q is a form that cannot be bundled", name, line)
	}
	fmt.Fprintf(&b.out, "modules[%q] = (() => {\n%s\nreturn { %s };\n})();\n", name, text, strings.Join(names, ", "))
	b.state[name] = moduleDone
	return nil
}
