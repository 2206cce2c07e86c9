package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"
)

func TestDurationIsWrittenAsPeopleDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		want  time.Duration
		print string
	}{
		{"10s", 10 * time.Second, "10s"},
		{"1h30m", 90 * time.Minute, "1h30m"},
		{"60m", time.Hour, "1h"},
		{"7d", 7 * day, "7d"},
		{"1d12h", 36 * time.Hour, "1d12h"},
		{"0d", 0, "0s"},
		{"0", 0, "0s"},
		{"1.5s", 1500 * time.Millisecond, "1.5s"},
		{"10m0.5s", 10*time.Minute + 500*time.Millisecond, "10m0.5s"},
		{"20h", 20 * time.Hour, "20h"},
		{"1h10s", time.Hour + 10*time.Second, "1h0m10s"},
		{"100µs", 100 * time.Microsecond, "100µs"},
	} {
		var d Duration
		if err := d.UnmarshalText([]byte(tt.text)); err != nil || time.Duration(d) != tt.want || d.String() != tt.print {
			t.Errorf("%q is %v (%s), %v; want %v (%s)", tt.text, time.Duration(d), d, err, tt.want, tt.print)
		}
	}
	for _, text := range []string{"", "10", "1 s", "-1s", "-0s", "1d-1h", "d", "1x", "-1d", "1.5d", "1h1d", "106752d", "106751d24h", "99999999999d"} {
		d := Duration(time.Second)
		if err := d.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, d)
		}
	}
}

func TestSizeIsWrittenAsPeopleDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		want  int64
		print string
	}{
		{"0", 0, "0B"},
		{"4096", 4096, "4KiB"},
		{"10MB", 10_000_000, "10MB"},
		{"64KiB", 65536, "64KiB"},
		{"64 KiB", 65536, "64KiB"},
		{"1.5GB", 1_500_000_000, "1500MB"},
		{"1500B", 1500, "1500B"},
		{"1kB", 1000, "1KB"},
		{"1TiB", 1 << 40, "1TiB"},
		{"9223372036854775807", math.MaxInt64, "9223372036854775807B"},
	} {
		var s Size
		if err := s.UnmarshalText([]byte(tt.text)); err != nil || int64(s) != tt.want || s.String() != tt.print {
			t.Errorf("%q is %d (%s), %v; want %d (%s)", tt.text, int64(s), s, err, tt.want, tt.print)
		}
	}
	for _, text := range []string{"", "MB", "-1", "-1MB", "1e3", "0x10", "inf", "nan", "1XB", "1 M B", "9223372036854775808", "9999999TiB", "1.2.3", "1_000"} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %d", text, int64(s))
		}
	}
}

func FuzzValuesReadWhatTheyWrite(f *testing.F) {
	for _, text := range []string{"10s", "7d1h", "64KiB", "1.5GB", "1ns", "0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d, d2 Duration
		if d.UnmarshalText([]byte(text)) == nil {
			if d < 0 {
				t.Fatalf("%q is negative: %d", text, d)
			}
			if err := d2.UnmarshalText([]byte(d.String())); err != nil || d2 != d {
				t.Fatalf("%q is printed as %s and read as %s, %v", text, d, d2, err)
			}
		}
		var s, s2 Size
		if s.UnmarshalText([]byte(text)) == nil {
			if s < 0 {
				t.Fatalf("%q is negative: %d", text, s)
			}
			if err := s2.UnmarshalText([]byte(s.String())); err != nil || s2 != s {
				t.Fatalf("%q is printed as %s and read as %s, %v", text, s, s2, err)
			}
		}
	})
}

func TestSecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	type options struct {
		Name     string
		Password Secret
		hidden   Secret
	}
	const password = "hunter2"
	o := options{"me", NewSecret(password), NewSecret(password)}
	var out bytes.Buffer
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, format+"\n", o)
		fmt.Fprintf(&out, format+"\n", &o)
		fmt.Fprintf(&out, format+"\n", []any{o.Password, &o.hidden})
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("secret", "s", o.Password, "o", o, "p", &o)
	}
	if err := json.NewEncoder(&out).Encode(o); err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{password, fmt.Sprintf("%x", password), strings.Trim(fmt.Sprint([]byte(password)), "[]")} {
		if strings.Contains(out.String(), shown) {
			t.Errorf("the secret shows as %q in:\n%s", shown, out.String())
		}
	}
	if !strings.Contains(out.String(), redacted) {
		t.Errorf("no %s in:\n%s", redacted, out.String())
	}
	if o.Password.Reveal() != password || o.Password.IsZero() || !(Secret{}).IsZero() || (Secret{}).Reveal() != "" {
		t.Error("Reveal or IsZero do not tell the truth")
	}
}
