package secretfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const hush = "hush-6f1d"

func TestReadTakesOffOneLineBreakAndNothingElse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	for content, want := range map[string]string{
		hush: hush, hush + "\n": hush, hush + "\r\n": hush, hush + "\n\n": hush + "\n", " " + hush + " \n": " " + hush + " ", "a\nb\n": "a\nb", "é": "é",
		strings.Repeat("a", Max-1) + "\n": strings.Repeat("a", Max-1),
	} {
		write(t, path, content)
		if got, err := Read(path); got != want || err != nil {
			t.Errorf("%.40q is read as %.40q, %v", content, got, err)
		}
	}
}

func TestReadSaysWhichFileIsWrongAndNothingOfWhatIsInIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	for content, want := range map[string]string{
		"": "holds nothing", "\n": "holds nothing", hush + "\xff": "holds what is no text in UTF-8", hush + strings.Repeat("a", Max): "holds more than 64 KB",
	} {
		write(t, path, content)
		_, err := Read(path)
		if err == nil || !strings.Contains(err.Error(), path+" "+want) || strings.Contains(err.Error(), hush) {
			t.Errorf("%.40q: %v", content, err)
		}
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), dir+" is a directory") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Read(path + "x"); err == nil || !strings.Contains(err.Error(), "there is no file "+path+"x") {
		t.Errorf("no file: %v", err)
	}
	if _, err := Read(os.DevNull); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a device: %v", err)
	}
}

// Whatever a file holds, the secret is what is in it but for one line break.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "\n", "a", "a\r\n", "\r", "a\r", "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		secret, err := Parse(content)
		if (secret == "") != (err != nil) {
			t.Fatalf("%q gives %q and %v", content, secret, err)
		}
		if rest := strings.TrimPrefix(string(content), secret); err == nil && rest != "" && rest != "\n" && rest != "\r\n" {
			t.Fatalf("%q gives %q", content, secret)
		}
	})
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
