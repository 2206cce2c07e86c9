package main

import (
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAStoreOfAnEarlierReleaseTellsNobodyAgain goes on with a data directory that an earlier release has written, in
// which annotations are known by their text. That release told ann of /a and not of /b, which has the same sentence,
// and bob of the price at 5 and at 6, and not when it was 5 again.
func TestAStoreOfAnEarlierReleaseTellsNobodyAgain(t *testing.T) {
	t.Parallel()
	const address = "127.83.12.7:18640" // where that release found the site: every address of 127/8 is this machine
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mustSucceed(t, exec.Command("tar", "xzf", "../../storage/testdata/golden/release-2026-11-21.tar.gz", "-C", dir))
	w := &world{site: newSite(t), t: t, data: filepath.Join(dir, "data")}
	old := &http.Server{Handler: http.HandlerFunc(w.serve)}
	go old.Serve(listener)
	t.Cleanup(func() { old.Close() })
	w.URL = "http://" + address
	w.raw("/", "<!DOCTYPE html><title>Index</title><a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a> <a href=/price>p</a>")
	w.raw("/a", "<!DOCTYPE html><title>Company A</title><p>Status: bankrupt</p><p>It made boats.")
	w.raw("/b", "<!DOCTYPE html><title>Company B</title><p>Status: bankrupt</p><p>It made sails.")
	w.raw("/c", "<!DOCTYPE html><title>Company C</title><p>Status: healthy</p><p>It makes ropes.")
	price := func(n int) {
		w.raw("/price", fmt.Sprintf("<!DOCTYPE html><title>Boat</title><p>A boat costs <b id=price>%d euro</b>.", n))
	}
	price(5)
	mustBe(t, "told by the earlier release", w.told(), "ann /a 1: Status: «bankrupt»", "bob /price 1: Boat", "bob /price 2: A boat costs [−5] «6» euro.")

	urds := these(w.asks("ann", "/", depth(2), about("bankrupt")), w.asks("bob", "/price"))
	urds[0].Keywords.Threshold = 0
	w.run(urds, askAll...)
	mustBe(t, "told of what has not changed", w.told())

	// The same requests once more, as if they were new: what they were told of those versions is known.
	for _, urd := range urds {
		if said, status := w.store("urd", "rm", urd.ID); status != 0 {
			t.Fatal(said)
		}
	}
	w.run(urds, askAll...)
	mustBe(t, "told when everything was matched again", w.told(), "ann /b 1: Status: «bankrupt»", "bob /price 3: Boat")

	price(6)
	w.run(urds, askAll...)
	mustBe(t, "told of the next change", w.told(), "bob /price 4: A boat costs [−5] «6» euro.")
}
