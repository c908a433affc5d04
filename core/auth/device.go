package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DeviceCookie is the name of the cookie that a browser keeps after a sign-in. It signs no one in.
// It keeps strangers' wrong passwords from locking out people in a browser they signed in with.
const DeviceCookie = "__Host-device"

// DeviceLifetime is how long a browser is remembered after a sign-in.
const DeviceLifetime = 365 * 24 * time.Hour

// devicePeople is how many people a browser is remembered for, such as at a shared till.
const devicePeople = 8

const devicePurpose = "device"

// device records that a person signed in with a browser. Its text is the person, the instant and
// a random name of the browser, with a signature.
type device struct {
	person    int64
	signedIn  time.Time
	name      string
	signature []byte
}

// parseDevices reads the value of the cookie, without checking signatures.
func parseDevices(value string) (list []device) {
	for text := range strings.SplitSeq(value, "~") {
		parts := strings.Split(text, ".")
		if len(parts) != 4 || len(list) == devicePeople {
			continue
		}
		person, err := strconv.ParseInt(parts[0], 10, 64)
		if err != nil {
			continue
		}
		at, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			continue
		}
		signature, err := base64.RawURLEncoding.DecodeString(parts[3])
		if err != nil {
			continue
		}
		list = append(list, device{person, time.UnixMilli(at).UTC(), parts[2], signature})
	}
	return list
}

func (d device) signed() string {
	return idText(d.person) + "." + idText(d.signedIn.UnixMilli()) + "." + d.name
}

func (d device) String() string {
	return d.signed() + "." + base64.RawURLEncoding.EncodeToString(d.signature)
}

// RememberDevice returns the new value of DeviceCookie in a browser where a person just signed in.
// value is the old one, which may name other people.
func (s *Service) RememberDevice(value string, p Proof) (string, error) {
	d := device{person: p.StaffID, signedIn: p.At, name: rand.Text()}
	signature, err := s.keys.Sign(devicePurpose, d.signed())
	if err != nil {
		return "", err
	}
	d.signature = signature
	texts := []string{d.String()}
	for _, other := range parseDevices(value) {
		if other.person != d.person && len(texts) < devicePeople {
			texts = append(texts, other.String())
		}
	}
	return strings.Join(texts, "~"), nil
}

// knownDevice returns the name of the visitor's browser if the person signed in with it less than
// DeviceLifetime ago, with the password they have now; otherwise "".
func (s *Service) knownDevice(v Visitor, who account) (name string, err error) {
	list := parseDevices(v.Device)
	at := slices.IndexFunc(list, func(d device) bool { return d.person == who.ID })
	if at < 0 || who.ID == 0 {
		return "", nil
	}
	d := list[at]
	if who.PasswordSetAt != nil && who.PasswordSetAt.After(d.signedIn) || s.db.Now().Sub(d.signedIn) > DeviceLifetime {
		return "", nil
	}
	signatures, err := s.keys.Signatures(devicePurpose, d.signed())
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(signatures, func(want []byte) bool { return hmac.Equal(want, d.signature) }) {
		return d.name, nil
	}
	return "", nil
}
