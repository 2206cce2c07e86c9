package render

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/webrace/webrace/internal/subprocess"
	"github.com/webrace/webrace/pipeline"
)

// startTimeout is how long a browser may take to start on a machine that is busy.
const startTimeout = time.Minute

// browser is a running Chromium, which is spoken to over a pipe: it listens on no port.
type browser struct {
	options Options
	dir     string          // all that it writes
	ctx     context.Context // ends with the browser
	cancel  context.CancelFunc
	process *os.Process
	group   *subprocess.Group // of all its processes
	lost    <-chan struct{}   // closed when it does not answer any more

	loaded int         // pages so far
	broken atomic.Bool // it is not to be used again

	stopping sync.Once
	stopped  error
}

// names are what the browser is called on different systems.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell"}

// findBrowser returns the program that is the browser.
func findBrowser(named string) (string, error) {
	if named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", &pipeline.OptionError{Option: "browser", Err: err}
		}
		return path, nil
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", &pipeline.OptionError{Option: "browser", Err: errors.New("there is no Chromium in PATH: install it (Debian, Ubuntu: " +
		"apt-get install chromium), or name one with --set render.browser=…")}
}

// startBrowser starts a browser, and waits until it answers.
func startBrowser(ctx context.Context, o Options) (*browser, error) {
	path, err := findBrowser(o.Browser)
	if err != nil {
		return nil, err
	}
	if o.Sandbox && runtime.GOOS == "linux" && os.Geteuid() == 0 {
		return nil, &pipeline.OptionError{Option: "sandbox", Err: errors.New("the browser has no sandbox for root: run as another user, " +
			"or, if pages are trusted or this machine holds nothing else, with --set render.sandbox=false")}
	}
	b := &browser{options: o}
	if b.group, err = subprocess.NewGroup(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp(temporary(), "webrace-render-"); err != nil {
		b.group.Close()
		return nil, err
	}
	started, giveUp := context.WithCancel(context.Background())
	allocator, cancelAllocator := chromedp.NewExecAllocator(started, b.allocatorOptions(path)...)
	discard := func(string, ...any) {}
	root, cancelRoot := chromedp.NewContext(allocator, chromedp.WithLogf(discard), chromedp.WithErrorf(discard))
	// cancelRoot waits for the process, and for ever when it is called again after a start that failed: it has to be
	// called once.
	b.ctx, b.cancel = root, func() { giveUp(); cancelRoot(); cancelAllocator() }
	limit := time.AfterFunc(startTimeout, giveUp)
	abandon := context.AfterFunc(ctx, giveUp)
	err = chromedp.Do(root)
	if late := !limit.Stop(); late && err != nil {
		err = fmt.Errorf("it does not answer within %v: %w", startTimeout, err)
	}
	abandon()
	if c := chromedp.FromContext(root); c.Browser != nil {
		b.process, b.lost = c.Browser.Process(), c.Browser.LostConnection
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, errors.Join(err, b.stop()))
	}
	return b, nil
}

// temporary returns where directories of browsers are made. The browser makes a socket there, whose name must
// not have more than about 100 bytes.
func temporary() string {
	const short = "/tmp"
	if dir := os.TempDir(); len(dir) <= 30 || runtime.GOOS == "windows" {
		return dir
	}
	return short
}

// stop kills the browser and all its processes, and removes what it wrote.
func (b *browser) stop() error {
	b.stopping.Do(func() {
		b.group.Kill()
		b.awaitEnd()
		b.group.Close()
		b.stopped = removeAll(b.dir)
	})
	return b.stopped
}

// awaitEnd waits until the browser's process is gone, but not for long. A process that was killed runs no more code,
// and yet stays for as long as a disk that is busy lets it wait; what is left of it goes then, with the goroutine that
// waits for it.
func (b *browser) awaitEnd() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.cancel()
	}()
	patience := time.NewTimer(graceful)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	}
}

// kill kills the browser's processes, which those that use it learn of as a crash.
func (b *browser) kill() {
	b.group.Kill()
	if b.process != nil {
		_ = b.process.Kill()
	}
}

// killWith kills the browser when ctx ends, and then gives up what it is asked, until stop is called. A browser that
// hangs would not answer for seconds when it is asked to close a page.
func (b *browser) killWith(ctx context.Context, giveUp func()) (stop func()) {
	killed := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(killed)
		b.broken.Store(true)
		b.kill()
		giveUp()
	})
	return func() {
		if !cancel() {
			<-killed
		}
	}
}

// removeAll removes a directory in which a process that is being killed may still write.
func removeAll(dir string) (err error) {
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("remove what the browser wrote: %w", err)
}

// crashed reports whether the browser is not there any more.
func (b *browser) crashed() bool {
	select {
	case <-b.lost:
		return true
	default:
		return false
	}
}

// spent reports whether the browser is to be replaced.
func (b *browser) spent() bool { return b.broken.Load() || b.loaded >= b.options.Pages || b.crashed() }

// prepareProcess makes all processes of the browser end when its context does, also while it is being started.
func (b *browser) prepareProcess(cmd *exec.Cmd) {
	b.group.Add(cmd)
	cmd.Cancel = func() error {
		b.group.Kill()
		return cmd.Process.Kill()
	}
}

func (b *browser) allocatorOptions(path string) []chromedp.ExecAllocatorOption {
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.NoInheritEnv, // the environment may hold secrets
		chromedp.Env("PATH="+os.Getenv("PATH"), "HOME="+b.dir, "TMPDIR="+b.dir, "LANG=C.UTF-8"),
		chromedp.ModifyCmdFunc(b.prepareProcess),
		chromedp.UserDataDir(filepath.Join(b.dir, "profile")),
		chromedp.Flag("no-sandbox", !b.options.Sandbox),
	}
	for name, value := range flags {
		options = append(options, chromedp.Flag(name, value))
	}
	return options
}

// flags of every browser.
var flags = map[string]any{
	"headless":    true,
	"disable-gpu": true,
	"mute-audio":  true,
	// Nothing that is not stopped and answered gets anywhere: names are not looked up, and the proxy that
	// everything goes through does not exist. UDP does not go past it.
	"host-resolver-rules":                                "MAP * ~NOTFOUND",
	"proxy-server":                                       "http://nowhere.invalid:1",
	"proxy-bypass-list":                                  "<-loopback>",
	"force-webrtc-ip-handling-policy":                    "disable_non_proxied_udp",
	"webrtc-ip-handling-policy":                          "disable_non_proxied_udp",
	"disable-quic":                                       true,
	"disable-background-networking":                      true,
	"disable-component-update":                           true,
	"disable-component-extensions-with-background-pages": true,
	"disable-default-apps":                               true,
	"disable-domain-reliability":                         true,
	"disable-extensions":                                 true,
	"disable-sync":                                       true,
	"disable-client-side-phishing-detection":             true,
	"metrics-recording-only":                             true,
	"no-pings":                                           true,
	"no-first-run":                                       true,
	"no-default-browser-check":                           true,
	"no-service-autorun":                                 true,
	"disable-breakpad":                                   true,
	"disable-crash-reporter":                             true,
	"disable-hang-monitor":                               true,
	"disable-notifications":                              true,
	"disable-remote-fonts":                               true,
	"deny-permission-prompts":                            true,
	"disable-dev-shm-usage":                              true, // it is small in containers
	"password-store":                                     "basic",
	"use-mock-keychain":                                  true,
	// A page in a window that is not shown runs like one in front.
	"disable-background-timer-throttling":    true,
	"disable-backgrounding-occluded-windows": true,
	"disable-renderer-backgrounding":         true,
	"enable-features":                        "NetworkServiceInProcess2",
	"disable-features": "Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication," +
		"CertificateTransparencyComponentUpdater,InterestFeedContentSuggestions,HttpsUpgrades,HttpsFirstBalancedMode," +
		"PrivateStateTokens,Prerender2,SpareRendererForSitePerProcess," +
		// What is around a page is a page of its own otherwise, with a process for each window: that costs more
		// than most pages do.
		"InitialWebUI,WebUIReloadButton,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIToolbarWebView,WebUILocationBar,PreloadTopChromeWebUI",
	"js-flags": "--max-old-space-size=512",
}
