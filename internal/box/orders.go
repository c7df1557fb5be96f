package box

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/transport"
)

// The kinds of orders.
const (
	OrderState = "state" // how things are
	OrderStage = "stage" // a part of a model file, or whether the whole is there
	OrderDrop  = "drop"  // what the box is armed with is not to be made
	OrderArm   = "arm"   // a staged model is to be run from a step on, if all agree
	OrderAgree = "agree" // all are armed
)

// Order is what an operator asks of a box, as JSON.
type Order struct {
	Kind  string `json:"kind"`
	Nonce uint64 `json:"nonce"` // by which the answer is known

	ID    uint64 `json:"id,omitempty"`    // of the deployment
	Model string `json:"model,omitempty"` // SHA-256 of its file
	Step  uint64 `json:"step,omitempty"`
	Reset bool   `json:"reset,omitempty"`
	Gone  bool   `json:"gone,omitempty"` // some box has gone over

	Size int64  `json:"size,omitempty"` // of the file
	At   int64  `json:"at,omitempty"`   // where Data belongs
	Data []byte `json:"data,omitempty"`

	// Who orders: the operator's certificate, and its signature of Text.
	Cert  []byte `json:"cert,omitempty"`
	Proof []byte `json:"proof,omitempty"`
}

// Text is what the operator signs. Whether what was learned is kept was signed when boxes
// were armed.
func (o *Order) Text(run string) []byte {
	reset := o.Reset && o.Kind == OrderArm
	return fmt.Appendf(nil, "wdgnn run %s: %s %d, model %s, step %d, reset %v", run, o.Kind, o.ID, o.Model, o.Step, reset)
}

// OrderAnswer is what a box says to an order. Error says why it is refused.
type OrderAnswer struct {
	Host  transport.HostID `json:"host"`
	Nonce uint64           `json:"nonce"`
	Error string           `json:"error,omitempty"`

	Next   uint64             `json:"next"`   // the first step that it has not begun
	Model  string             `json:"model"`  // SHA-256 of what it runs
	Since  uint64             `json:"since"`  // and from which step on
	Before string             `json:"before"` // what it ran before; empty if nothing
	Digest string             `json:"digest"` // of what it runs, as boxes compare it
	Change *host.ChangeReport `json:"change,omitempty"`
	Last   uint64             `json:"last"` // the latest deployment that it knows of

	Have   int64  `json:"have,omitempty"`   // bytes of the file that is being staged
	Staged string `json:"staged,omitempty"` // digest of the model that was asked for, once it is there and fits
	Learns bool   `json:"learns,omitempty"` // by that model
	Seeded bool   `json:"seeded,omitempty"` // which has learned online itself
}

// mostOrder bounds orders, in bytes; StageChunk is how much of a file one carries.
const (
	mostOrder  = 1 << 20
	StageChunk = 256 << 10
)

// orderPause is after how long a silent visitor is hung up on.
const orderPause = time.Minute

// WriteOrder writes an order or an answer to a box's direct link.
func WriteOrder(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// ReadOrder reads what WriteOrder wrote.
func ReadOrder(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size > mostOrder {
		return nil, fmt.Errorf("box: an order of %d bytes, want at most %d", size, mostOrder)
	}
	text := make([]byte, size)
	_, err := io.ReadFull(r, text)
	return text, err
}

// visit obeys an operator at the other end of a connection.
func (d *deployer) visit(conn net.Conn) {
	for conn.SetDeadline(time.Now().Add(orderPause)) == nil {
		text, err := ReadOrder(conn)
		if err != nil {
			return
		}
		if WriteOrder(conn, json.RawMessage(d.obey(text))) != nil {
			return
		}
	}
}
