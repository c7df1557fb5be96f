package keys

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/transport"
)

// A record says that a host belongs to a run, signed by the authority of its keys:
//
//	{"member":{"run":"yard","host":5,"serial":1,"key":"…","nodes":"50-54",…},"signature":"…"}
//
// The signature is that of an ECDSA key, in ASN.1 and base64, of the SHA-256 of
// recordPrefix and the bytes of the value of "member" as they stand. This package reads
// run, host, serial and key of it; host.Member has the rest. It holds no secret.
const recordPrefix = "wdgnn member\n"

// memberFile is the record in a host's folder.
const memberFile = "member.json"

// recordID names the part of a certificate that holds a record: boxes with direct links
// see it in the handshake, before they have heard of the host.
var recordID = asn1.ObjectIdentifier{2, 25, 1719847213}

// signedRecord is a record.
type signedRecord struct {
	Member    json.RawMessage `json:"member"`
	Signature []byte          `json:"signature"`
}

// memberOf is what this package reads of a record.
type memberOf struct {
	Run    string           `json:"run"`
	Host   transport.HostID `json:"host"`
	Serial uint64           `json:"serial"`
	Key    string           `json:"key"`
}

// signRecord signs what is said of a host, a JSON object without needless space.
func (a *authority) signRecord(member []byte) ([]byte, error) {
	sum := recordSum(member)
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum)
	if err != nil {
		return nil, err
	}
	quoted, err := json.Marshal(signature)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"member":%s,"signature":%s}`, member, quoted), nil
}

func recordSum(member []byte) []byte {
	sum := sha256.Sum256(append([]byte(recordPrefix), member...))
	return sum[:]
}

// readRecord returns what a record says, and its signature, which nobody has looked at.
func readRecord(record []byte) (r signedRecord, m memberOf, err error) {
	if err = json.Unmarshal(record, &r); err == nil {
		err = json.Unmarshal(r.Member, &m)
	}
	if err != nil {
		return r, m, fmt.Errorf("keys: this is no record of a host: %w", err)
	}
	return r, m, nil
}

// Vouch returns a check of records by the authority in a party's folder and by its list
// of revoked keys. It returns what a record says that the authority has signed. It may
// be called concurrently.
func Vouch(dir, party string) (func(record []byte) ([]byte, error), error) {
	dir = folder(dir, party)
	authorities, err := readAuthorities(filepath.Join(dir, authorityFile))
	if err != nil {
		return nil, err
	}
	list, err := newRevoked(dir)
	if err != nil {
		return nil, err
	}
	return func(record []byte) ([]byte, error) {
		r, m, err := readRecord(record)
		if err != nil {
			return nil, err
		}
		sum, signed := recordSum(r.Member), false
		for _, key := range authorities {
			signed = signed || ecdsa.VerifyASN1(key, sum, r.Signature)
		}
		if !signed {
			return nil, fmt.Errorf("keys: the record of host %d is not signed by the authority of these keys", m.Host)
		}
		if len(m.Key) != hex.EncodedLen(sha256.Size) {
			return nil, fmt.Errorf("keys: the record of host %d names no key", m.Host)
		}
		return r.Member, list.checkPin(m.Key)
	}, nil
}

// readAuthorities returns the keys of all certificates in a file.
func readAuthorities(path string) (list []*ecdsa.PublicKey, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, missing(err)
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("keys: %s: %w", path, err)
		}
		if key, ok := cert.PublicKey.(*ecdsa.PublicKey); ok {
			list = append(list, key)
		}
	}
	return list, nil
}

// Record returns the record in a party's folder, nil if there is none.
func Record(dir, party string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(folder(dir, party), memberFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return bytes.TrimSpace(text), nil
}

// Records returns what the records of a whole set say, without looking who signed
// them.
func Records(dir string) ([][]byte, error) {
	files, err := filepath.Glob(filepath.Join(filepath.Clean(dir), "host-*", memberFile))
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	var list [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("keys: %w", err)
		}
		r, _, err := readRecord(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list = append(list, r.Member)
	}
	return list, nil
}

// RecordOf returns the record in a certificate, nil if there is none.
func RecordOf(cert *x509.Certificate) []byte {
	for _, e := range cert.Extensions {
		if e.Id.Equal(recordID) {
			return e.Value
		}
	}
	return nil
}

// inCertificate puts a record into a certificate; nil into none.
func inCertificate(record []byte) []pkix.Extension {
	if record == nil {
		return nil
	}
	return []pkix.Extension{{Id: recordID, Value: record}}
}

// pinOfKey is the pin of the certificates of a key.
func pinOfKey(key *ecdsa.PrivateKey) (string, error) {
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:]), nil
}

// renewRecord returns the part of a party's next certificate that holds its record, if
// the one before had it. A party that came later and gets another key gets another
// record, which names it.
func (s *set) renewRecord(party string, old *x509.Certificate, key *ecdsa.PrivateKey) ([]pkix.Extension, error) {
	record, err := Record(s.dir, party)
	if err != nil {
		return nil, err
	}
	pin, err := pinOfKey(key)
	if err == nil && record != nil && pin != pinOf(old) {
		record, err = s.rewrite(party, record, pin)
	}
	if err != nil || RecordOf(old) == nil {
		return nil, err
	}
	return inCertificate(record), nil
}

// rewrite signs a record again, with the next serial number and another key.
func (s *set) rewrite(party string, record []byte, pin string) ([]byte, error) {
	r, m, err := readRecord(record)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.Member, &fields); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	fields["serial"], fields["key"] = fmt.Append(nil, m.Serial+1), fmt.Appendf(nil, "%q", pin)
	member, err := json.Marshal(fields)
	if err == nil {
		record, err = s.ca.signRecord(member)
	}
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return record, replaceSecret(filepath.Join(s.dir, party, memberFile), append(record, '\n'))
}
