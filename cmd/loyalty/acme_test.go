package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"golang.org/x/net/dns/dnsmessage"

	"example.com/loyalty/core/certificate"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

// authority is pebble, the ACME server that Let's Encrypt tests clients with. It verifies each host with
// TLS-ALPN-01 on one port of this machine.
type authority struct {
	cmd       *exec.Cmd
	log       output
	directory string
	ca        string // the file with the certificate of the directory
	roots     *x509.CertPool
}

func startAuthority(t *testing.T, in *installation) *authority {
	t.Helper()
	build := exec.Command("go", "tool", "-modfile=../../go.tool.mod", "-n", "pebble")
	build.Stderr = os.Stderr // also what the go command downloads
	program, err := build.Output()
	if err != nil {
		t.Fatalf("build pebble: %v", err)
	}
	_, tlsPort, _ := strings.Cut(in.addr, ":")
	verified, _ := strconv.Atoi(tlsPort)
	listen, management := fmt.Sprintf("localhost:%d", freePort(t)), fmt.Sprintf("localhost:%d", freePort(t))
	cert, key := selfMade(t, in)
	settings, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": management, "certificate": cert, "privateKey": key,
		"tlsPort": verified, "httpPort": verified, "keyAlgorithm": "ecdsa",
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(in.top, "pebble.json")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	a := &authority{directory: "https://" + listen + "/dir", ca: cert, roots: x509.NewCertPool()}
	a.cmd = exec.Command(strings.TrimSpace(string(program)), "-config", file, "-dnsserver", everyNameIsHere(t))
	a.cmd.Env = []string{"PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0"}
	a.cmd.Stdout, a.cmd.Stderr = &a.log, &a.log
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.kill)
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: trusting(t, cert)}}
	t.Cleanup(c.CloseIdleConnections)
	await(t, "the certificate authority is up", func() bool {
		got, err := c.Get("https://" + management + "/roots/0")
		if err != nil {
			return false
		}
		defer got.Body.Close()
		text, err := io.ReadAll(got.Body)
		return err == nil && a.roots.AppendCertsFromPEM(text)
	})
	return a
}

func (a *authority) kill() {
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
}

// issued returns how many certificates it has issued.
func (a *authority) issued() int { return strings.Count(a.log.String(), "Issued certificate serial") }

// everyNameIsHere is a name server that has this machine's address for every name. It speaks TCP.
func everyNameIsHere(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	answer := func(conn net.Conn) error {
		defer conn.Close()
		var size uint16
		if err := binary.Read(conn, binary.BigEndian, &size); err != nil {
			return err
		}
		asked := make([]byte, size)
		if _, err := io.ReadFull(conn, asked); err != nil {
			return err
		}
		var m dnsmessage.Message
		if err := m.Unpack(asked); err != nil {
			return err
		}
		m.Response, m.Additionals = true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
			}}
		}
		text, err := m.Pack()
		if err != nil {
			return err
		}
		_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...))
		return err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answer(conn) //nolint:errcheck // pebble reports it
		}
	}()
	return l.Addr().String()
}

// shake returns the serial number of the certificate that a process has for a host.
func (a *authority) shake(in *installation, host string) (serial string, err error) {
	conn, err := tls.Dial("tcp", in.addr, &tls.Config{RootCAs: a.roots, ServerName: host})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}

// serves returns that serial number as soon as there is a certificate.
func (a *authority) serves(t *testing.T, in *installation, host string) (serial string) {
	t.Helper()
	await(t, "a certificate for "+host, func() (ok bool) {
		var err error
		serial, err = a.shake(in, host)
		return err == nil
	})
	return serial
}

// "Certificates by ACME … stored in the database, tested against a real ACME server that runs on loopback"
func TestCertificatesByACME(t *testing.T) {
	t.Parallel()
	const base = "loyalty.test"
	own := dbtest.OwnURL(t)
	in := newInstallationOn(t, own, "LOYALTY_TLS=acme", "LOYALTY_ACME_EMAIL=ops@loyalty.test")
	a := startAuthority(t, in)
	in = in.with("LOYALTY_ACME_URL="+a.directory, "LOYALTY_ACME_CA="+a.ca)
	_, port, _ := strings.Cut(in.addr, ":")
	in.base = "https://" + base + ":" + port
	in = in.with("LOYALTY_BASE_URL=" + in.base)
	d, err := db.Open(t.Context(), dbtest.Serving(own), db.Options{OwnerURL: own})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	tenant := func() string { return dbtest.Tenant(t, d).Tenant.Slug + "." + base }

	// One process: the base host and a business's, and no other name.
	first := in.served()
	baseSerial := a.serves(t, in, base)
	cafe := tenant()
	cafeSerial := a.serves(t, in, cafe)
	if baseSerial == cafeSerial {
		t.Error("both hosts have the same certificate")
	}
	for _, host := range []string{"nothing." + base, "a." + cafe, "other.example"} {
		if _, err := a.shake(in, host); err == nil || !strings.Contains(err.Error(), "unrecognized name") {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, protocol := range []string{"h2", "http/1.1"} {
		conn, err := tls.Dial("tcp", in.addr, &tls.Config{RootCAs: a.roots, ServerName: base, NextProtos: []string{protocol}})
		if err != nil {
			t.Fatalf("%s: %v", protocol, err)
		}
		if got := conn.ConnectionState().NegotiatedProtocol; got != protocol {
			t.Errorf("%s is negotiated, want %s", got, protocol)
		}
		_ = conn.Close()
	}
	first.http = client(t, in.addr, &tls.Config{RootCAs: a.roots})
	first.expect(t, http.StatusOK, "GET", "/readyz", "", "").carries(t, aYear+"; includeSubDomains")
	first.expect(t, http.StatusPermanentRedirect, "GET", "http://"+base+":"+port+"/problems", "", "")
	in.succeed("health", "--ready") // names no host
	for _, host := range []string{base, cafe} {
		if first.log.line(`msg="certificate obtained" host=`+host) == "" {
			t.Errorf("the log lacks the certificate of %s", host)
		}
	}

	// Another process on the same database has the same certificates.
	other := newInstallation(t)
	other.env = append(append([]string{}, in.env...), "LOYALTY_DATA_DIR="+other.data, "LOYALTY_ADDR="+other.addr)
	other.hidden = in.hidden
	second := other.served()
	if got := a.serves(t, other, base); got != baseSerial {
		t.Error("the second process has another certificate for the base host")
	}
	if got := a.serves(t, other, cafe); got != cafeSerial {
		t.Error("the second process has another certificate for the business")
	}
	if n := a.issued(); n != 2 {
		t.Errorf("%d certificates were issued, want 2\n%s", n, a.log.String())
	}

	// A certificate that the second process requests is verified at the first, which has the port. Both
	// request one at the same time: one is issued.
	bar := tenant()
	a.serves(t, other, bar)
	shop := tenant()
	serials := make([]string, 2)
	var both sync.WaitGroup
	for i, process := range []*installation{in, other} {
		both.Go(func() {
			for range 3 { // a wait for the other process may last longer than a handshake
				var err error
				if serials[i], err = a.shake(process, shop); err == nil {
					return
				}
			}
		})
	}
	both.Wait()
	if serials[0] == "" || serials[0] != serials[1] {
		t.Errorf("two processes at once have the certificates %q", serials)
	}
	if n := a.issued(); n != 4 {
		t.Errorf("%d certificates were issued, want 4", n)
	}
	second.stop()

	// A business whose certificate expired, because no process served its host for a while, gets a new one.
	closed := tenant()
	cert, key := selfSigned(t, time.Now().Add(-time.Hour), closed)
	issuer := (&certmagic.ACMEIssuer{CA: a.directory}).IssuerKey()
	for file, text := range map[string][]byte{
		certmagic.StorageKeys.SiteCert(issuer, closed): cert, certmagic.StorageKeys.SitePrivateKey(issuer, closed): key,
		certmagic.StorageKeys.SiteMeta(issuer, closed): []byte(`{"sans":["` + closed + `"]}`),
	} {
		if err := certificate.NewStore(d, sealedWith(t, testSecret)).Store(t.Context(), file, text); err != nil {
			t.Fatal(err)
		}
	}
	a.serves(t, in, closed)
	if first.log.line(`msg="certificate obtained" host=`+closed+" renewal=true") == "" {
		t.Error("the log lacks the renewal")
	}

	// What the database has, and so its backups, is encrypted.
	conn := connect(t, own)
	if keys := ask[int](conn, "select count(*) from loyalty.tls_file where key like '%.key'"); keys != 6 {
		t.Errorf("%d private keys are stored, want those of the account and five hosts", keys)
	}
	if open := ask[int](conn, "select count(*) from loyalty.tls_file where position('BEGIN'::bytea in sealed) > 0 or position('PRIVATE'::bytea in sealed) > 0"); open != 0 {
		t.Errorf("%d files are readable", open)
	}
	if locks := ask[int](conn, "select count(*) from loyalty.tls_lock"); locks != 0 {
		t.Errorf("%d locks are left", locks)
	}

	// Without the authority, what was issued is served, a new host gets an alert, and the log says why.
	first.stop()
	a.kill()
	again := in.served()
	if got := a.serves(t, in, base); got != baseSerial {
		t.Error("after a restart the base host has another certificate")
	}
	if got := a.serves(t, in, shop); got != serials[0] {
		t.Error("after a restart the business has another certificate")
	}
	late := tenant()
	for range 3 {
		if _, err := a.shake(in, late); err == nil || !strings.Contains(err.Error(), "internal error") {
			t.Errorf("without the authority: %v", err)
		}
	}
	if n := strings.Count(again.log.String(), "the certificate authority refused a certificate or can't be reached"); n != 1 {
		t.Errorf("three handshakes made %d attempts, want 1", n)
	}
	again.stop()
}

// Settings that can't work stop the start.
func TestACMESettingsThatCannotWork(t *testing.T) {
	t.Parallel()
	in := newInstallationOn(t, dbtest.OwnURL(t), "LOYALTY_TLS=acme", "LOYALTY_BASE_URL=https://loyalty.test")
	gone, empty := filepath.Join(in.top, "gone.pem"), filepath.Join(in.top, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in.with("LOYALTY_ACME_CA="+gone).run("serve").says(t, "LOYALTY_ACME_CA: open "+gone+": no such file or directory")
	in.with("LOYALTY_ACME_CA="+empty).run("serve").says(t, "LOYALTY_ACME_CA: "+empty+" has no certificate in PEM")
}
