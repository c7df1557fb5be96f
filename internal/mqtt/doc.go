// Package mqtt is how boxes meet sensors as they are: a client of an MQTT broker that nobody
// waits for, topics with names in them, payloads that are numbers or JSON, and a grid of
// steps on which readings are placed by their time.
//
//	t, err := mqtt.ParseTemplate("sensors/{name}/temperature")
//	f, err := mqtt.NewFormat([]string{"/temperature"}, "/time")
//	name, ok := t.Name(message.Topic)
//	reading, err := f.Read(message.Payload, arrived)
//	fate := grid.Put(sensor, reading, now)
//
// It knows no model and no host. The client speaks MQTT 3.1.1.
package mqtt
