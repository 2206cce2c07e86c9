package pdftext

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	_ "embed"

	"github.com/klauspost/compress/zstd"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/emscripten"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// compressedPDFium is PDFium in WebAssembly, the file that go-pdfium embeds; a test holds it to that. Whoever imports
// that module has the file uncompressed, and its pool besides, which gives an instance the whole file system unless
// told otherwise, and a call no context, so that nothing could interrupt one. After an update of the module:
//
//	module=$(go list -m -f '{{.Dir}}' github.com/klippa-app/go-pdfium)
//	zstd --ultra -22 -f -o pdfium.wasm.zst "$module/webassembly/pdfium.wasm"
//
//go:embed pdfium.wasm.zst
var compressedPDFium []byte

// pdfiumWasm returns the module: 4 MB, in 5 ms.
func pdfiumWasm() ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(compressedPDFium, nil)
}

// wasmPage is the unit that the memory of an instance is counted in.
const wasmPage = 64 << 10

// engine is PDFium, compiled, of which every document gets an instance of its own: it costs a few milliseconds, and
// nothing that a document does to it outlives the document.
type engine struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	slots    chan struct{} // one for each instance that may be at work
}

// started is the engine of the process. It is made when the first PDF comes.
var started = sync.OnceValues(func() (*engine, error) { return startEngine(cacheDirectory()) })

// startEngine makes an engine with a cache, and one without if that is damaged, or its disk full.
func startEngine(cache string) (*engine, error) {
	e, err := newEngine(Default.instances(), cache)
	if err != nil && cache != "" {
		e, err = newEngine(Default.instances(), "")
	}
	return e, err
}

func (l Limits) instances() int { return min(runtime.GOMAXPROCS(0), l.Instances) }

func newEngine(instances int, cache string) (*engine, error) {
	ctx := context.Background()
	config := withCache(wazero.NewRuntimeConfig(), cache)
	e := &engine{runtime: wazero.NewRuntimeWithConfig(ctx, config), slots: make(chan struct{}, instances)}
	if err := e.compile(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start PDFium: %w", err), e.runtime.Close(ctx))
	}
	return e, nil
}

// compile translates PDFium to the code of the machine, and gives it what it imports.
func (e *engine) compile(ctx context.Context) (err error) {
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, e.runtime); err != nil {
		return err
	}
	module, err := pdfiumWasm()
	if err != nil {
		return err
	}
	if module, err = metered(module, pauseFunction); err != nil {
		return err
	}
	e.compiled, err = e.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), module)
	if err != nil {
		return err
	}
	env := e.runtime.NewHostModuleBuilder("env")
	exporter, err := emscripten.NewFunctionExporterForModule(e.compiled)
	if err != nil {
		return err
	}
	exporter.ExportFunctions(env)
	for _, f := range e.compiled.ImportedFunctions() {
		if module, name, _ := f.Import(); module == "env" && strings.HasSuffix(name, "_CB") {
			function := uncalled(name)
			if name == pauseFunction {
				function = goOn
			}
			env.NewFunctionBuilder().WithGoModuleFunction(function, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	_, err = env.Instantiate(ctx)
	return err
}

// uncalled stands for a function with which PDFium would call a program that fills in forms, prints or saves.
func uncalled(name string) api.GoModuleFunc {
	return func(context.Context, api.Module, []uint64) {
		panic("PDFium calls " + name + ", which nothing registered")
	}
}

// pauseFunction is what PDFium asks a program while it draws, which nothing here has it do. So its meter can ask there.
const pauseFunction = "IFSDK_PAUSE_NeedToPauseNow_CB"

// workShare is how much an instance counts before it asks whether to go on: a millisecond or two.
const workShare = 1 << 18

// goOn lets an instance count on, as long as it may and somebody waits for it.
func goOn(ctx context.Context, _ api.Module, stack []uint64) {
	in := ctx.Value(instanceKey{}).(*instance)
	in.work += workShare - int64(api.DecodeI32(stack[0]))
	if in.ctx.Err() != nil || in.overworked() {
		panic(errors.New("it is ended"))
	}
	stack[0] = workShare
}

// instanceKey is for the instance that a call in PDFium belongs to.
type instanceKey struct{}

// instance is one PDFium at work on one document. It has no files, no clock but a fake one, and no randomness, so
// that a document gives the same text everywhere. Its methods panic with a *failure when PDFium fails.
type instance struct {
	ctx       context.Context
	module    api.Module
	functions map[string]api.Function
	memory    *linearMemory
	work      int64  // what its meter has counted
	most      int64  // what that may count
	scratch   uint32 // scratchSize bytes for the numbers that functions return
}

const scratchSize = 64

// overworked reports whether the instance has done as much as it may.
func (in *instance) overworked() bool { return in.work > in.most }

// failure is a panic of an instance, for one reason.
type failure struct {
	cause Cause
	err   error
}

// start makes an instance, to be closed also if that fails.
func (e *engine) start(ctx context.Context, most int64, memory *linearMemory) (*instance, error) {
	in := &instance{functions: map[string]api.Function{}, memory: memory, most: most}
	in.ctx = context.WithValue(ctx, instanceKey{}, in)
	first := 0
	for _, m := range e.compiled.ExportedMemories() {
		first = int(m.Min()) * wasmPage
	}
	if first > memory.most {
		return in, fmt.Errorf("%d bytes are too few", memory.most)
	}
	if err := memory.hold(first); err != nil {
		return in, err
	}
	config := wazero.NewModuleConfig().WithStartFunctions("_initialize").WithName("")
	module, err := e.runtime.InstantiateModule(experimental.WithMemoryAllocator(in.ctx, memory), e.compiled, config)
	in.module = module
	return in, err
}

// close frees the instance, also while it is broken.
func (in *instance) close() {
	if in.module != nil {
		_ = in.module.Close(context.Background())
	}
	in.memory.Free()
}

// call calls a function of PDFium, which returns one number or nothing.
func (in *instance) call(name string, args ...uint64) uint64 {
	f := in.functions[name]
	if f == nil {
		if f = in.module.ExportedFunction(name); f == nil {
			panic(&failure{Engine, fmt.Errorf("PDFium has no function %s", name)})
		}
		in.functions[name] = f
	}
	results, err := f.Call(in.ctx, args...)
	switch {
	case in.ctx.Err() != nil:
		panic(&failure{Time, in.ctx.Err()})
	case err != nil && in.overworked():
		panic(&failure{TooLong, firstLine(err)})
	case err != nil && in.memory.refused:
		panic(&failure{Memory, firstLine(err)})
	case err != nil:
		panic(&failure{Broken, firstLine(err)})
	case len(results) == 0:
		return 0
	}
	return results[0]
}

// firstLine leaves out the stack, of functions without names.
func firstLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}

// allocate returns the address of memory of the instance.
func (in *instance) allocate(size int) uint32 {
	at := uint32(in.call("malloc", uint64(size)))
	if at == 0 {
		panic(&failure{Memory, fmt.Errorf("%d bytes are not to be had", size)})
	}
	return at
}

func (in *instance) free(at uint32) { in.call("free", uint64(at)) }

// store copies bytes to the instance, with a zero behind them, and returns their address.
func (in *instance) store(b []byte) uint32 {
	at := in.allocate(len(b) + 1)
	if memory := in.module.Memory(); !memory.Write(at, b) || !memory.WriteByte(at+uint32(len(b)), 0) {
		panic(&failure{Broken, errors.New("memory was given out that there is not")})
	}
	return at
}

// bytes returns memory of the instance, valid until its next call.
func (in *instance) bytes(at uint32, size int) []byte {
	b, ok := in.module.Memory().Read(at, uint32(size))
	if !ok {
		panic(&failure{Broken, errors.New("memory is named that there is not")})
	}
	return b
}
