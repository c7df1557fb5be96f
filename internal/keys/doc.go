// Package keys makes and reads the secrets of a deployment: who may speak as
// whom and hear whom.
//
//	err := keys.Make(dir, keys.Plan{Run: "demo", Hosts: hosts})
//
// writes one folder per party. Each is all that its machine needs, so copying
// one folder to one machine is all of the distribution:
//
//	host-<id>/   host.seed host.crt host.key ca.crt    a box; member.json of one that came later
//	world/       world.seed ca.crt                     what shows hosts their observations
//	observer/    observer.seed ca.crt                  may read reports and nothing else
//	operator/    operator.seed operator.crt operator.key ca.crt   may deploy models
//	mqtt-<name>/ password ca.crt                       who speaks MQTT, such as a sensor
//	server/      permissions.json nats.conf authorization.conf server.crt server.key ca.crt
//	ca/          ca.crt ca.key                         stays at home
//
// Folders have mode 0700 and files 0600. The set appears at once or not at all.
//
// # NATS
//
// Seeds are NKeys: a client signs what the server makes up, and no secret
// travels. The server knows public keys and what each may do:
//
//	           publishes                    subscribes to
//	host i     from.i, answer.i, report.i,  from.j of each j it may ever hear, world.i,
//	           join.i, deployed.i           join.>, deploy.i
//	world      world.>                      answer.>, report.>
//	observer   nothing                      report.>
//	operator   deploy.>                     deployed.>, report.>
//
// all below wdgnn.<run>. Nobody may do anything else. Permissions are the
// envelope; whom a host hears at the moment is its own decision within it.
//
// # MQTT
//
// AddMQTT adds users who speak MQTT with the server: a name, a password that is drawn, of
// which the server knows the hash, and topics that they may write and read. None of these
// lies below wdgnn.
//
// # Hosts that come later
//
// Join adds a host to a set, or says that one of it has more nodes, in a record that
// the authority signs. Boxes that run take it from each other, and from whom it is
// about: on the subject join.i, in its certificate, in its folder. Vouch checks it.
//
// # TLS
//
// Certificates are ECDSA P-256, signed by a certificate authority made for the
// set, and valid from the day before for Plan.Years years; Renew writes the next, and
// running programs take them by themselves. Revoke lists keys that are no longer taken in
// revoked.txt beside ca.crt. A host's certificate names its
// run and number as wdgnn://<run>/host/<id>, which is what other hosts check:
// machines may change addresses. A server's names it as wdgnn://<run>/server
// and lists its addresses, which clients check.
package keys
