package keys

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// MQTTUser is somebody who speaks MQTT with the server, a sensor or Home Assistant,
// and the topics that it may write and read. The password itself is in its own folder.
type MQTTUser struct {
	Name      string   `json:"name"`
	Password  string   `json:"password"` // its bcrypt hash
	Publish   []string `json:"publish"`  // topics, + and # allowed
	Subscribe []string `json:"subscribe"`
}

// mqttPrefix begins the names of folders of MQTT users.
const mqttPrefix = "mqtt-"

// passwordFile holds the password of an MQTT user, in its folder.
const passwordFile = "password"

// passwordCost is that of bcrypt. Passwords are drawn, of 130 bits: nobody guesses them,
// however fast the hash is, and a small server answers sensors at once.
const passwordCost = bcrypt.MinCost

var mqttName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// AddMQTT lets somebody speak MQTT with the servers of a set, or gives one who does other
// topics; the password stays then. It returns the folder of the user. The folder server is
// to be copied to the servers, which take it without a restart.
func AddMQTT(dir, name string, publish, subscribe []string) (string, error) {
	s, err := openSet(dir)
	if err != nil {
		return "", err
	}
	u := MQTTUser{Name: name, Publish: publish, Subscribe: subscribe}
	p := s.permissions
	k := slices.IndexFunc(p.MQTT, func(o MQTTUser) bool { return o.Name == name })
	if k >= 0 {
		u.Password = p.MQTT[k].Password
	}
	if err := u.validate(); err != nil {
		return "", fmt.Errorf("keys: %w", err)
	}
	folder := filepath.Join(s.dir, mqttPrefix+name)
	if k >= 0 {
		p.MQTT[k] = u
		return folder, s.save()
	}
	root, err := os.ReadFile(filepath.Join(s.dir, authorityFolder, authorityFile))
	if err != nil {
		return "", fmt.Errorf("keys: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("keys: %w", err)
	}
	if err := replaceSecret(filepath.Join(folder, authorityFile), root); err != nil {
		return "", err
	}
	if u.Password, err = newPassword(folder); err != nil {
		return "", err
	}
	p.RevokedMQTT = slices.DeleteFunc(p.RevokedMQTT, func(o MQTTUser) bool { return o.Name == name }) // it never comes back
	p.MQTT = append(p.MQTT, u)
	return folder, s.save()
}

// newPassword draws a password, writes it into a folder and returns its hash.
func newPassword(folder string) (string, error) {
	text := rand.Text()
	hash, err := bcrypt.GenerateFromPassword([]byte(text), passwordCost)
	if err != nil {
		return "", fmt.Errorf("keys: %w", err)
	}
	return string(hash), replaceSecret(filepath.Join(folder, passwordFile), []byte(text+"\n"))
}

// repassword gives an MQTT user another password, and what it was permitted before.
func (s *set) repassword(party string) error {
	p, name := s.permissions, strings.TrimPrefix(party, mqttPrefix)
	named := func(u MQTTUser) bool { return u.Name == name }
	if k := slices.IndexFunc(p.RevokedMQTT, named); k >= 0 {
		if !slices.ContainsFunc(p.MQTT, named) {
			p.MQTT = append(p.MQTT, p.RevokedMQTT[k])
		}
		p.RevokedMQTT = slices.DeleteFunc(p.RevokedMQTT, named)
	}
	k := slices.IndexFunc(p.MQTT, named)
	if k < 0 {
		return fmt.Errorf("keys: the permissions do not know %s", party)
	}
	hash, err := newPassword(filepath.Join(s.dir, party))
	p.MQTT[k].Password = hash
	return err
}

// revokeMQTT takes the password of an MQTT user out of use, and says whether there was one.
func (p *Permissions) revokeMQTT(party string) bool {
	name, ok := strings.CutPrefix(party, mqttPrefix)
	k := slices.IndexFunc(p.MQTT, func(u MQTTUser) bool { return u.Name == name })
	if !ok || k < 0 {
		return false
	}
	p.RevokedMQTT = append(p.RevokedMQTT, p.MQTT[k])
	p.MQTT = slices.Delete(p.MQTT, k, k+1)
	return true
}

// validate returns all that is wrong with u.
func (u MQTTUser) validate() error {
	var wrong []error
	if !mqttName.MatchString(u.Name) {
		wrong = append(wrong, fmt.Errorf("MQTT user %q: want 1 to 64 letters, digits, - and _", u.Name))
	}
	if len(u.Publish)+len(u.Subscribe) == 0 {
		wrong = append(wrong, fmt.Errorf("MQTT user %s may neither write nor read any topic; name some", u.Name))
	}
	for _, topic := range slices.Concat(u.Publish, u.Subscribe) {
		if _, err := Subjects(topic); err != nil {
			wrong = append(wrong, fmt.Errorf("MQTT user %s: %w", u.Name, err))
		}
	}
	return errors.Join(wrong...)
}

// Subjects returns the NATS subjects that an MQTT topic, or a filter with + and #, stands
// for on a NATS server: levels are tokens, and a/# is a as well as all below it. Topics
// that would reach what boxes say to each other, or the server's own, are errors.
func Subjects(topic string) ([]string, error) {
	levels := strings.Split(topic, "/")
	for k, level := range levels {
		wild := level == "+" || level == "#" && k == len(levels)-1
		switch {
		case level == "":
			return nil, fmt.Errorf("topic %q has an empty level; want such as sensors/+/temperature", topic)
		case !wild && strings.ContainsAny(level, "+#*>"):
			return nil, fmt.Errorf("topic %q: + and # stand for whole levels, # for the last, and there is no * or >", topic)
		case strings.ContainsAny(level, " \t\r\n\f\x00\x7f"):
			return nil, fmt.Errorf("topic %q: a NATS server takes no spaces in topics", topic)
		}
	}
	if first := levels[0]; first == "wdgnn" || first == "+" || first == "#" || strings.HasPrefix(first, "$") {
		return nil, fmt.Errorf("topic %q would reach what boxes say to each other, below wdgnn/, or the server's own, below $; "+
			"begin with another name", topic)
	}
	subject := strings.NewReplacer(".", "//", "+", "*", "#", ">", "/", ".").Replace(topic)
	if below, ok := strings.CutSuffix(subject, ".>"); ok {
		return []string{below, subject}, nil
	}
	return []string{subject}, nil
}

// Publishes returns the subjects that u may publish.
func (u MQTTUser) Publishes() []string { return allSubjects(u.Publish) }

// Subscribes returns the subjects that u may subscribe to: its topics, and where a NATS
// server delivers to MQTT clients what they are to acknowledge.
func (u MQTTUser) Subscribes() []string {
	if len(u.Subscribe) == 0 {
		return nil
	}
	return append(allSubjects(u.Subscribe), "$MQTT.sub.>", "$MQTT.deliver.pubrel.>")
}

// allSubjects returns the subjects of topics that are valid.
func allSubjects(topics []string) (list []string) {
	for _, t := range topics {
		subjects, _ := Subjects(t) // validate has looked at it
		list = append(list, subjects...)
	}
	return list
}
