package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/nats-io/nkeys"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// Names of parties that are not hosts.
const (
	World    = "world"
	Observer = "observer"
	Operator = "operator"
)

// HostName is the name of a host in a set of keys.
func HostName(host transport.HostID) string {
	return "host-" + strconv.FormatUint(uint64(host), 10)
}

// Permissions is what a server knows of a deployment. It holds no secret.
type Permissions struct {
	Run   string `json:"run"`
	Users []User `json:"users"`

	// ServerPin is the SHA-256 of the server certificate's public key, in
	// hexadecimal: servers of a cluster accept no other one from each other.
	ServerPin string `json:"server_pin"`

	// Revoked are users that servers no longer know, for when they get new keys.
	Revoked []User `json:"revoked,omitempty"`

	// MQTT are users who speak MQTT, where a server does; RevokedMQTT those it no longer knows.
	MQTT        []MQTTUser `json:"mqtt,omitempty"`
	RevokedMQTT []MQTTUser `json:"revoked_mqtt,omitempty"`
}

// User is one party and what it may do. Subjects may hold wildcards; no
// subjects means that it may not at all.
type User struct {
	Name      string   `json:"name"`
	Key       string   `json:"key"` // public NKey
	Publish   []string `json:"publish"`
	Subscribe []string `json:"subscribe"`
}

// LoadPermissions reads the permissions of the set in dir.
func LoadPermissions(dir string) (*Permissions, error) {
	path := filepath.Join(folder(dir, serverFolder), permissionsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	var p Permissions
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("keys: %s: %w", path, err)
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("keys: %s: %w", path, err)
	}
	return &p, nil
}

// Validate returns all that is wrong with p.
func (p *Permissions) Validate() error {
	var wrong []error
	if err := natsbus.ValidRun(p.Run); err != nil {
		wrong = append(wrong, err)
	}
	if len(p.Users) == 0 {
		wrong = append(wrong, errors.New("no users"))
	}
	for _, u := range p.Users {
		if !nkeys.IsValidPublicUserKey(u.Key) {
			wrong = append(wrong, fmt.Errorf("user %s: %q is not the public key of a user", u.Name, u.Key))
		}
	}
	called := map[string]bool{}
	for _, u := range p.MQTT {
		if err := u.validate(); err != nil {
			wrong = append(wrong, err)
		}
		if called[u.Name] {
			wrong = append(wrong, fmt.Errorf("MQTT user %s is there twice", u.Name))
		}
		called[u.Name] = true
	}
	return errors.Join(wrong...)
}

// usersOf returns what the parties of a plan may do, without their keys.
func usersOf(p Plan) []User {
	var users []User
	for _, h := range p.Hosts {
		hears := slices.Compact(slices.Sorted(slices.Values(h.Hears)))
		subscribe := []string{natsbus.WorldSubject(p.Run, h.ID), natsbus.JoinSubjects(p.Run), natsbus.DeploySubject(p.Run, h.ID)}
		for _, j := range hears {
			subscribe = append(subscribe, natsbus.FromSubject(p.Run, j))
		}
		users = append(users, User{
			Name: HostName(h.ID),
			Publish: []string{
				natsbus.FromSubject(p.Run, h.ID),
				natsbus.AnswerSubject(p.Run, h.ID),
				natsbus.ReportSubject(p.Run, h.ID),
				natsbus.JoinSubject(p.Run, h.ID),
				natsbus.DeployedSubject(p.Run, h.ID),
			},
			Subscribe: subscribe,
		})
	}
	return append(users,
		User{
			Name:      World,
			Publish:   []string{natsbus.WorldSubjects(p.Run)},
			Subscribe: []string{natsbus.AnswerSubjects(p.Run), natsbus.ReportSubjects(p.Run)},
		},
		User{
			Name:      Observer,
			Publish:   []string{},
			Subscribe: []string{natsbus.ReportSubjects(p.Run)},
		},
		operatorOf(p.Run))
}

// operatorOf returns what the operator of a run may do.
func operatorOf(run string) User {
	return User{
		Name:      Operator,
		Publish:   []string{natsbus.DeploySubjects(run)},
		Subscribe: []string{natsbus.DeployedSubjects(run), natsbus.ReportSubjects(run)},
	}
}
