// Package strictjson reads JSON that has exactly one value and no keys that the
// reader does not know.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Unmarshal is json.Unmarshal, and keys that v does not know are errors, as
// is anything but white space behind the value. Numbers of no type of their own
// become a json.Number.
func Unmarshal(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more text follows the first value")
	}
	return nil
}
