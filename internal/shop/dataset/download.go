//go:build !js

package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
)

const (
	mostBytes    = 1 << 28          // of an archive
	mostAttempts = 5                // connections in one run
	stall        = 60 * time.Second // without a byte, until a connection is given up
)

// patient returns a client that waits, but not for ever.
func patient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		ForceAttemptHTTP2:     true,
	}}
}

// download is one archive on its way.
type download struct {
	set      Set
	dir      string
	url      *url.URL
	part     string // where bytes gather
	client   *http.Client
	progress func(Progress)

	began       int64 // bytes that were there
	done, total int64 // total is -1 while it is not known
}

// request asks for u from the given byte on.
func (d *download) request(ctx context.Context, u string, from int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	req.Header.Set("Accept-Encoding", "identity") // bytes as they lie on the server
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	resp, err := d.client.Do(req)
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil:
		return nil, d.interrupted(ctx, err)
	}
	return nil, &Problem{fmt.Errorf("dataset: cannot reach %s: %w", d.url.Host, err), d.offline()}
}

// offline says how to do without a connection.
func (d *download) offline() string {
	var names []string
	for _, f := range d.set.need() {
		names = append(names, f.name)
	}
	return fmt.Sprintf("without a network: fetch %s elsewhere, unpack it, and put %s into %s", d.url, strings.Join(names, " and "), d.dir)
}

var md5Digits = regexp.MustCompile(`\b[0-9a-fA-F]{32}\b`)

// checksum returns the MD5 that is published beside the archive, empty if
// none is.
func (d *download) checksum(ctx context.Context) (string, error) {
	resp, err := d.request(ctx, d.url.String()+".md5", 0)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		return "", nil
	}
	if resp.StatusCode != http.StatusOK {
		return "", &Problem{fmt.Errorf("dataset: %s.md5: the server answers %s", d.url, resp.Status), d.offline()}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return "", d.interrupted(ctx, err)
	}
	found := md5Digits.FindAllString(string(text), -1)
	if len(found) != 1 {
		return "", &Problem{fmt.Errorf("dataset: %s.md5 is not a checksum", d.url), "a --url that holds " + d.set.Archive + ", or " + d.offline()}
	}
	return strings.ToLower(found[0]), nil
}

// archive gathers all bytes of the archive. As long as connections bring some,
// it tries again when one is cut.
func (d *download) archive(ctx context.Context) error {
	if info, err := os.Stat(d.part); err == nil {
		d.began = info.Size()
	}
	for attempt := 1; ; attempt++ {
		before := d.done
		err := d.connect(ctx)
		var cut *cutError
		if err == nil || !errors.As(err, &cut) || d.done <= before || attempt == mostAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// restart forgets what is there and gathers all bytes anew.
func (d *download) restart(ctx context.Context) error {
	if err := os.Remove(d.part); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	d.began, d.done = 0, 0
	return d.archive(ctx)
}

var errStalled = fmt.Errorf("no byte in %v", stall)

// cutError is a connection that ended early.
type cutError struct{ err error }

func (e *cutError) Error() string { return e.err.Error() }
func (e *cutError) Unwrap() error { return e.err }

// connect asks for what is missing, once.
func (d *download) connect(ctx context.Context) (err error) {
	file, err := os.OpenFile(d.part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return &Problem{fmt.Errorf("dataset: %w", err), "--out with a folder that you may write to"}
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if d.done, err = file.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := d.request(ctx, d.url.String(), d.done)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	silence := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer silence.Stop()
	if finished, err := d.agree(file, resp); finished || err != nil {
		return err
	}
	if err := d.copy(ctx, file, resp.Body, silence); err != nil {
		return err
	}
	if d.total >= 0 && d.done != d.total {
		return &cutError{&Problem{
			fmt.Errorf("dataset: the connection ended after %d of %d bytes", d.done, d.total),
			"the same command again: it goes on from there",
		}}
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	return nil
}

// agree reads from the answer where its bytes belong, and makes the file end
// there. It says whether the file is complete already.
func (d *download) agree(file *os.File, resp *http.Response) (finished bool, err error) {
	var from int64
	d.total = -1
	switch resp.StatusCode {
	case http.StatusOK: // all of it, also if a part was asked for
		d.total = resp.ContentLength
	case http.StatusPartialContent:
		if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-", &from); err != nil || from != d.done {
			return false, d.refuse(fmt.Errorf("dataset: the server sends %q, asked for from byte %d on", resp.Header.Get("Content-Range"), d.done))
		}
		if resp.ContentLength >= 0 {
			d.total = from + resp.ContentLength
		}
	case http.StatusRequestedRangeNotSatisfiable: // there is nothing after what is here
		if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes */%d", &d.total); err == nil && d.total == d.done {
			return true, nil
		}
		return false, d.refuse(fmt.Errorf("dataset: %d bytes are here, which is not the size on the server", d.done))
	default:
		return false, &Problem{
			fmt.Errorf("dataset: %s: the server answers %s", d.url, resp.Status),
			"a --url that holds " + d.set.Archive + ", or " + d.offline(),
		}
	}
	if d.total > mostBytes {
		return false, &Problem{fmt.Errorf("dataset: %s has %d bytes, want at most %d", d.url, d.total, mostBytes), "another --url"}
	}
	d.began, d.done = min(d.began, from), from
	if err := file.Truncate(from); err != nil {
		return false, fmt.Errorf("dataset: %w", err)
	}
	_, err = file.Seek(from, io.SeekStart)
	return false, err
}

// copy appends body to the file. Each byte that arrives puts silence off.
func (d *download) copy(ctx context.Context, file *os.File, body io.Reader, silence *time.Timer) error {
	buffer := make([]byte, 64<<10)
	for {
		n, err := body.Read(buffer)
		silence.Reset(stall)
		if n > 0 {
			if _, err := file.Write(buffer[:n]); err != nil {
				return &Problem{fmt.Errorf("dataset: %w", err), "--out on a disk with room"}
			}
			d.done += int64(n)
			d.progress(Progress{Done: d.done, Total: d.total, Began: d.began})
		}
		switch {
		case ctx.Err() != nil:
			return &cutError{d.interrupted(ctx, err)}
		case d.done > mostBytes:
			return d.refuse(fmt.Errorf("dataset: %s does not end after %d bytes", d.url, mostBytes))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &cutError{d.interrupted(ctx, err)}
		}
	}
}

// interrupted returns the error of a connection that ended early.
func (d *download) interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &Problem{fmt.Errorf("dataset: download of %s: %w", d.url, err), "the same command again: it goes on from there"}
}
