package recommend

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/wdgnn/wdgnn/internal/shop/dataset"
)

// directory knows the ids of users, or of items: those of the data, and those
// that came since. Where ids are texts, everything inside knows them by number.
// It is safe for concurrent use.
type directory struct {
	data *dataset.IDs // nil where ids are numbers

	mutex sync.RWMutex
	added map[string]int
	texts map[int]string
	next  int
}

func newDirectory(data *dataset.IDs) *directory {
	return &directory{data: data, added: map[string]int{}, texts: map[int]string{}, next: data.Len()}
}

// named says whether ids are texts.
func (d *directory) named() bool { return d.data != nil }

// find returns the number of an id.
func (d *directory) find(text string) (id int, known bool) {
	if id, known = d.data.Find(text); known || !d.named() {
		return id, known
	}
	d.mutex.RLock()
	defer d.mutex.RUnlock()
	id, known = d.added[text]
	return id, known
}

// text returns the id with the given number.
func (d *directory) text(id int) string {
	if !d.named() || id < d.data.Len() {
		return d.data.Of(id)
	}
	d.mutex.RLock()
	defer d.mutex.RUnlock()
	return d.texts[id]
}

// add returns the number of an id, which gets the next one if it is new. It
// says whether it was.
func (d *directory) add(text string) (id int, isNew bool) {
	if id, known := d.find(text); known {
		return id, false
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	id = d.next
	d.added[text], d.texts[id] = id, text
	d.next++
	return id, true
}

// drop undoes an add. The number is not given to another: a request that is under way
// may know it.
func (d *directory) drop(id int) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.added, d.texts[id])
	delete(d.texts, id)
}

// put gives an id the number that a file says it has. An empty text stands for an
// id that needs none.
func (d *directory) put(text string, id int) error {
	if text == "" {
		return nil
	}
	if has, known := d.find(text); known && has == id {
		return nil
	} else if known || id < d.data.Len() {
		return fmt.Errorf("id %q has number %d, here %d", text, id, has)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.added[text], d.texts[id], d.next = id, text, max(d.next, id+1)
	return nil
}

// name returns the text of an id for a file, empty where it is the number.
func (d *directory) name(id int) string {
	if !d.named() {
		return ""
	}
	return d.text(id)
}

// shown returns an id for a message.
func (d *directory) shown(id int) string {
	if !d.named() {
		return d.text(id)
	}
	return strconv.Quote(d.text(id))
}
