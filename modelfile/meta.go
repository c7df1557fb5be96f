package modelfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/strictjson"
)

// format is the version of the format that this package writes. It changes
// when files of the old format would be misread.
const format = "1"

// Keys of the metadata.
const (
	keyFormat  = "wdgnn.format"
	keyConfig  = "wdgnn.config"
	keyShift   = "wdgnn.shift"
	keyScale   = "wdgnn.scale"
	keyDelayed = "wdgnn.delayed"
	keyTask    = "wdgnn.task"
	keyNodes   = "wdgnn.nodes"
	keySeed    = "wdgnn.seed"
	keyVersion = "wdgnn.version"
	keyOnline  = "wdgnn.online"

	keyForecast = "wdgnn.forecast"
)

// metadata returns the text that the header holds for c and m.
func metadata(c gnn.Config, m Meta) (map[string]string, error) {
	config, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	shift, err := m.Shift.MarshalText()
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(m.Task) || !utf8.ValidString(m.Version) || !utf8.ValidString(m.Online) || !utf8.ValidString(m.Forecast) {
		return nil, errors.New("task, version, online and forecast must be UTF-8 text")
	}
	text := map[string]string{
		keyFormat:  format,
		keyConfig:  string(config),
		keyShift:   string(shift),
		keyDelayed: strconv.FormatBool(m.Delayed),
		keyTask:    m.Task,
		keySeed:    strconv.FormatUint(m.Seed, 10),
		keyVersion: m.Version,
	}
	if m.Scale != 0 {
		text[keyScale] = strconv.FormatFloat(m.Scale, 'g', -1, 64)
	}
	if m.Online != "" {
		text[keyOnline] = m.Online
	}
	if m.Forecast != "" {
		text[keyForecast] = m.Forecast
	}
	if len(m.Nodes) > 0 {
		words := make([]string, len(m.Nodes))
		for i, n := range m.Nodes {
			if n < 0 || n > math.MaxInt32 {
				return nil, fmt.Errorf("node %d that the loss read: nodes count from 0", n)
			}
			words[i] = strconv.Itoa(n)
		}
		text[keyNodes] = strings.Join(words, ",")
	}
	return text, nil
}

// parseMetadata is the inverse of metadata. Format, config and shift are
// required; keys of others are passed over. A network cannot have more layers
// than the file has tensors.
func parseMetadata(text map[string]string, tensors int) (c gnn.Config, m Meta, err error) {
	switch v, ok := text[keyFormat]; {
	case !ok:
		return c, m, fmt.Errorf("its metadata has no %q: this is not a model of wdgnn; python/wdgnn_torch.py writes one from PyTorch", keyFormat)
	case v != format:
		return c, m, fmt.Errorf("%s is %.40q, this program reads %q; try a newer wdgnn", keyFormat, v, format)
	}
	for _, key := range []string{keyConfig, keyShift} {
		if _, ok := text[key]; !ok {
			return c, m, fmt.Errorf("its metadata has no %q; write the file again", key)
		}
	}
	if c, err = parseConfig(text[keyConfig], tensors); err != nil {
		return c, m, fmt.Errorf("%s: %w", keyConfig, brief(err))
	}
	if m.Shift, err = graph.ParseShift(text[keyShift]); err != nil {
		return c, m, fmt.Errorf("%s: %w", keyShift, brief(err))
	}
	switch v := text[keyDelayed]; v {
	case "", "false":
	case "true":
		m.Delayed = true
	default:
		return c, m, fmt.Errorf("%s is %.40q, want true or false", keyDelayed, v)
	}
	if v := text[keyScale]; v != "" {
		if m.Scale, err = strconv.ParseFloat(v, 64); err != nil || !(m.Scale > 0) || math.IsInf(m.Scale, 0) {
			return c, m, fmt.Errorf("%s is %.40q, want a number above 0", keyScale, v)
		}
	}
	if m.Nodes, err = parseNodes(text[keyNodes]); err != nil {
		return c, m, fmt.Errorf("%s: %w", keyNodes, err)
	}
	if v := text[keySeed]; v != "" {
		if m.Seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			return c, m, fmt.Errorf("%s is %.40q, want a number from 0 to %d", keySeed, v, uint64(math.MaxUint64))
		}
	}
	m.Task, m.Version, m.Online = text[keyTask], text[keyVersion], text[keyOnline]
	m.Forecast = text[keyForecast]
	return c, m, nil
}

// parseConfig reads an architecture. Keys that it does not know are refused: a
// network with a part left out would give other outputs.
func parseConfig(text string, tensors int) (gnn.Config, error) {
	var c gnn.Config
	if err := strictjson.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("%w; try a newer wdgnn", err)
	}
	if len(c.Deep) > tensors {
		return c, fmt.Errorf("%d layers in a file of %d tensors", len(c.Deep), tensors)
	}
	return c, c.Validate()
}

// parseNodes reads "1,5,7"; nothing means all nodes.
func parseNodes(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	words := strings.Split(text, ",")
	nodes := make([]int, len(words))
	for i, w := range words {
		if !isNode(w) {
			return nil, fmt.Errorf("%.40q is not a node", w)
		}
		nodes[i], _ = strconv.Atoi(w)
	}
	return nodes, nil
}

// quote writes s as a JSON string, without the escapes that only web pages need.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string never fails
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
