package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// errExists says that there is a set of keys already.
var errExists = errors.New("there are keys already; replacing them shuts out everybody who has the old ones")

const (
	serverFolder    = "server"
	authorityFolder = "ca"

	authorityFile     = "ca.crt"
	permissionsFile   = "permissions.json"
	authorizationFile = "authorization.conf"
	serverConfigFile  = "nats.conf"
)

// Make makes a set of keys in dir, which must not exist or be empty: else it
// returns errExists and changes nothing.
func Make(dir string, plan Plan) error { return build(dir, plan, false) }

// Replace is Make that replaces a set. It refuses a folder that holds anything
// else.
func Replace(dir string, plan Plan) error { return build(dir, plan, true) }

func build(dir string, plan Plan, replace bool) error {
	if err := plan.Validate(); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	there, err := occupied(dir)
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	if there && !replace {
		return fmt.Errorf("keys: folder %s: %w", dir, errExists)
	}
	files, err := secrets(plan, time.Now())
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	if err := publish(dir, files, replace); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	return nil
}

// secrets returns the files of a set by their paths.
func secrets(plan Plan, now time.Time) (map[string][]byte, error) {
	files := map[string][]byte{}
	put := func(folder, name string, data []byte) { files[filepath.Join(folder, name)] = data }
	ca, root, err := newAuthority(plan.Run, now, plan.years())
	if err != nil {
		return nil, err
	}
	put(authorityFolder, authorityFile, root.cert)
	put(authorityFolder, "ca.key", root.key)

	users := usersOf(plan)
	for i := range users {
		seed, public, err := newSeed()
		if err != nil {
			return nil, err
		}
		users[i].Key = public
		put(users[i].Name, seedFile(users[i].Name), seed)
		put(users[i].Name, authorityFile, root.cert)
	}
	for _, h := range plan.Hosts {
		id, err := ca.issue(h.Names, hostPath(h.ID), hearsPath(h.Hears))
		if err != nil {
			return nil, err
		}
		put(HostName(h.ID), "host.crt", id.cert)
		put(HostName(h.ID), "host.key", id.key)
	}
	operator, err := ca.issue(nil, operatorPath)
	if err != nil {
		return nil, err
	}
	put(Operator, "operator.crt", operator.cert)
	put(Operator, "operator.key", operator.key)
	server, err := ca.issue(plan.servers(), serverPath)
	if err != nil {
		return nil, err
	}
	put(serverFolder, "server.crt", server.cert)
	put(serverFolder, "server.key", server.key)
	put(serverFolder, authorityFile, root.cert)

	permissions := &Permissions{Run: plan.Run, Users: users, ServerPin: server.pin}
	data, err := json.MarshalIndent(permissions, "", "  ")
	if err != nil {
		return nil, err
	}
	put(serverFolder, permissionsFile, append(data, '\n'))
	put(serverFolder, authorizationFile, authorization(permissions))
	put(serverFolder, serverConfigFile, serverConfig(permissions, plan.servers()))
	return files, nil
}

// newSeed makes an NKey and returns it as a file, and its public half.
func newSeed() (seed []byte, public string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", err
	}
	seed, err = pair.Seed()
	if err != nil {
		return nil, "", err
	}
	public, err = pair.PublicKey()
	return append(seed, '\n'), public, err
}

// seedFile is the name of the file with a party's seed.
func seedFile(name string) string {
	if strings.HasPrefix(name, "host-") {
		name = "host"
	}
	return name + ".seed"
}

// occupied says whether there is a set of keys in dir. Anything else in it is
// an error.
func occupied(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case slices.Contains([]string{serverFolder, authorityFolder, World, Observer, Operator}, name):
		case strings.HasPrefix(name, "host-"), strings.HasPrefix(name, mqttPrefix):
		default:
			return false, fmt.Errorf("folder %s holds %s, which is no part of a set of keys; name a folder of its own", dir, name)
		}
	}
	return len(entries) > 0, nil
}
