package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"unicode/utf8"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/rundir"
)

// fileKind is what a file turns out to be, in words.
type fileKind string

const (
	kindUnknown fileKind = "" // it is not there, or a text of its own
	kindFolder  fileKind = "a folder"
	kindEmpty   fileKind = "an empty file"
	kindModel   fileKind = "a model file"
	kindArray   fileKind = "an array of NumPy"
	kindArchive fileKind = "an archive of arrays"
	kindBytes   fileKind = "no text, and no file of wdgnn"
	kindJSON    fileKind = "JSON"
	kindConfig  fileKind = "a configuration of wdgnn train"
	kindBox     fileKind = "the configuration of a box"
	kindTable   fileKind = "a table"
)

// kindOf says what is at a path, by its first bytes.
func kindOf(path string) fileKind {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return kindUnknown
	case info.IsDir():
		return kindFolder
	case !info.Mode().IsRegular():
		return kindUnknown
	case info.Size() == 0:
		return kindEmpty
	}
	f, err := os.Open(path)
	if err != nil {
		return kindUnknown
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 16<<10))
	if err != nil {
		return kindUnknown
	}
	return kindOfBytes(head, uint64(info.Size()))
}

var (
	boxKey    = regexp.MustCompile(`(?m)^(run|host|hosts|bus|world):`)
	configKey = regexp.MustCompile(`(?m)^(data|scenario|forecast|model|train|online):`)
	tableLine = regexp.MustCompile(`^[^\n:#]*[,\t;][^\n]*\n`)
)

func kindOfBytes(head []byte, size uint64) fileKind {
	switch {
	case bytes.HasPrefix(head, []byte("\x93NUMPY")):
		return kindArray
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return kindArchive
	case len(head) > 9 && head[8] == '{' && binary.LittleEndian.Uint64(head) <= size:
		return kindModel
	case bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(head[:max(len(head)-utf8.UTFMax, 0)]):
		return kindBytes
	case len(boxKey.FindAll(head, 3)) == 3:
		return kindBox
	case len(configKey.FindAll(head, 2)) == 2:
		return kindConfig
	case bytes.HasPrefix(bytes.TrimLeft(head, " \n\t"), []byte("{")):
		return kindJSON
	case tableLine.Match(head):
		return kindTable
	}
	return kindUnknown
}

// mistaken says that a path leads to another kind of file than the one that is wanted,
// and what to try; nil if it may well be the right one.
func mistaken(path string, want fileKind) error {
	kind := kindOf(path)
	if kind == kindUnknown || kind == want || kind == kindBytes && want != kindConfig && want != kindBox {
		return nil // who reads it knows better what is wrong
	}
	return helpful{fmt.Errorf("%s is %s, want %s", path, kind, want), instead(path, kind, want)}
}

// instead names a file of the kind that is wanted, near one of another kind.
func instead(path string, kind, want fileKind) string {
	var near []string
	switch {
	case kind == kindFolder && want == kindModel:
		near = []string{
			filepath.Join(path, rundir.ModelName), filepath.Join(path, "run", rundir.ModelName), filepath.Join(path, rundir.AdaptedName),
		}
	case kind == kindFolder && want == kindConfig:
		near = []string{filepath.Join(path, rundir.ConfigName)}
	case kind == kindConfig && want == kindModel:
		if cfg, err := config.Load(path); err == nil {
			near = []string{filepath.Join(cfg.Abs(cfg.Out), rundir.ModelName)}
		}
	}
	for _, file := range near {
		if kindOf(file) == want {
			return file
		}
	}
	switch {
	case kind == kindConfig && want == kindModel:
		return fmt.Sprintf("wdgnn train %s, which trains one and says where it is", path)
	case want == kindTable:
		return tryRatings
	case want == kindJSON:
		return tryManifest
	case want == kindFolder:
		return filepath.Dir(path)
	case want == kindModel:
		return "wdgnn train CONFIG.yaml, which writes model.safetensors to its run folder"
	case kind == kindBox:
		return fmt.Sprintf("wdgnn agent --config %s, which runs the box", path)
	case want == kindBox:
		return "wdgnn agent -h, which shows the configuration of a box, agent.yaml"
	}
	return "wdgnn init DIR, which writes a configuration and data to begin with"
}

// readBox reads the configuration of a box.
func readBox(path string, read func(string) (*box.Config, error)) (*box.Config, error) {
	if err := mistaken(path, kindBox); err != nil {
		return nil, err
	}
	c, err := read(path)
	if err != nil {
		return nil, helpful{err, "wdgnn agent -h, which shows an example, or doc/runtime.md, which lists every key"}
	}
	return c, nil
}
