package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of agents that build and measure systems code in C, C++, Rust and Go.

func nativeLoops() []kind {
	return []kind{
		{name: "flags_never_reach_compiler", build: flagsNeverReachCompiler},
		{name: "build_started_over_at_each_timeout", build: buildStartedOverAtEachTimeout},
		{name: "same_tweaks_benchmarked_again", build: sameTweaksBenchmarkedAgain},
		{name: "sanitizer_report_unmoved", build: sanitizerReportUnmoved},
	}
}

// lostFlag is a flag that a build needs and that its compiler does not get.
type lostFlag struct {
	flag     string
	edits    [][3]string // file, before, after
	commands []string
	output   func() string
}

// lostFlag returns a build of one toolchain.
func (p *generator) lostFlag() lostFlag {
	unit, other, lib := p.word(), p.word(), p.word()
	switch p.IntN(3) {
	case 0:
		symbol, std, names := other+"_"+unit+"_table", p.pick("-O2 -g", "-O2 -Wall", "-std=gnu99 -O1"), p.distinctWords(30)
		return lostFlag{
			"-fPIC",
			[][3]string{{"Makefile", "CFLAGS = " + std, "CFLAGS = " + std + " -fPIC"}, {"Makefile", "CFLAGS = " + std, "CFLAGS += -fPIC"}, {"config.mk", "OPT =", "OPT = -fPIC"}, {"Makefile", "all: lib" + lib + ".so", "export CFLAGS += -fPIC\nall: lib" + lib + ".so"}, {"Makefile", "LDFLAGS = -shared", "LDFLAGS = -shared -fPIC"}, {"Makefile", "CC = gcc", "CC = gcc -fPIC"}},
			[]string{"make 2>&1 | tail -40", "make clean && make", "CFLAGS=-fPIC make -B", "make -B CPPFLAGS=-fPIC"},
			func() string {
				text := ""
				for _, name := range names[p.IntN(len(names)):] {
					text += fmt.Sprintf("gcc %s -Iinclude -c src/%s.c -o obj/%s.o\n", std, name, name)
				}
				return text + fmt.Sprintf("gcc -shared -o lib%s.so obj/%s.o\n/usr/bin/ld: obj/%s.o: relocation R_X86_64_PC32 against symbol `%s' can not be used when making a shared object; recompile with -fPIC\n/usr/bin/ld: final link failed: bad value\ncollect2: error: ld returned 1 exit status\nmake%s: *** [Makefile:%d: lib%s.so] Error 1", lib, unit, unit, symbol, p.pick("", "[1]"), p.between(20, 60), lib)
			},
		}
	case 1:
		names := p.distinctWords(p.between(3, 20))
		return lostFlag{
			"-lstdc++fs",
			[][3]string{{"CMakeLists.txt", "set(CMAKE_CXX_STANDARD 17)", "set(CMAKE_CXX_STANDARD 17)\nset(CMAKE_CXX_FLAGS \"${CMAKE_CXX_FLAGS} -lstdc++fs\")"}, {"CMakeLists.txt", "project(" + lib + ")", "project(" + lib + ")\nadd_link_options(-lstdc++fs)"}, {"CMakeLists.txt", "add_executable(" + lib, "set(CMAKE_EXE_LINKER_FLAGS \"-lstdc++fs\")\nadd_executable(" + lib}, {unit + "/CMakeLists.txt", "add_library(" + unit, "add_compile_options(-lstdc++fs)\nadd_library(" + unit}},
			[]string{"cmake --build build", "cmake -B build && cmake --build build -j4", "cmake -B build -DCMAKE_EXE_LINKER_FLAGS=-lstdc++fs && cmake --build build", "rm -rf build && cmake -S . -B build && cmake --build build -j"},
			func() string {
				text := ""
				for k := p.IntN(len(names)); k < len(names); k++ {
					text += fmt.Sprintf("[%3d%%] Building CXX object CMakeFiles/%s.dir/src/%s.cpp.o\n", 100*(k+1)/(len(names)+1), lib, names[k])
				}
				return text + fmt.Sprintf("[100%%] Linking CXX executable %s\n/usr/bin/ld: CMakeFiles/%s.dir/src/%s.cpp.o: in function `%s::%s(std::filesystem::__cxx11::path const&)':\n%s.cpp:(.text+0x%x): undefined reference to `std::filesystem::status(std::filesystem::__cxx11::path const&)'\ncollect2: error: ld returned 1 exit status\ngmake[2]: *** [CMakeFiles/%s.dir/build.make:%d: %s] Error 1", lib, lib, unit, other, unit, unit, p.between(40, 9000), lib, p.between(90, 500), lib)
			},
		}
	}
	version, crates := fmt.Sprintf("0.%d.%d", p.between(1, 12), p.IntN(20)), p.distinctWords(25)
	for k, name := range crates {
		crates[k] = fmt.Sprintf("   Compiling %s v%d.%d.%d\n", name, p.IntN(3), p.IntN(20), p.IntN(9))
	}
	return lostFlag{
		"--cfg " + unit + "_unstable",
		[][3]string{{other + "/.cargo/config.toml", "[build]", "[build]\nrustflags = [\"--cfg\", \"" + unit + "_unstable\"]"}, {"Cargo.toml", "[features]", "[features]\n" + unit + "_unstable = []"}, {"build.rs", "fn main() {", "fn main() {\n    println!(\"cargo:rustc-cfg=" + unit + "_unstable\");"}, {other + "/Cargo.toml", "[features]", "[features]\ndefault = [\"" + unit + "_unstable\"]"}, {other + "/.cargo/config.toml", "[target.x86_64-unknown-linux-gnu]", "[target.x86_64-unknown-linux-gnu]\nrustflags = \"--cfg " + unit + "_unstable\""}, {"Cargo.toml", "[profile.dev]", "[profile.dev]\nrustflags = [\"--cfg=" + unit + "_unstable\"]"}},
		[]string{"cargo build", "cargo clean && cargo build", "cargo build --features " + unit + "_unstable", "touch build.rs && cargo build -v"},
		func() string {
			return strings.Join(crates[p.IntN(len(crates)):], "") + fmt.Sprintf("   Compiling %s v%s\nerror: the `%s` module requires `--cfg %s_unstable` to be set in RUSTFLAGS\n  --> /usr/local/cargo/registry/src/index.crates.io-6f17d22bba15001f/%s-%s/src/lib.rs:%d:1\n   |\n   | compile_error!(\"the `%s` module requires `--cfg %s_unstable` to be set in RUSTFLAGS\");\n   | ^^^^^^^^^^^^^^\n\nerror: could not compile `%s` (lib) due to 1 previous error", lib, version, other, unit, lib, version, 31, other, unit, lib)
		},
	}
}

// flagsNeverReachCompiler writes a flag into other places of the build files; the commands that the build prints never have it.
func flagsNeverReachCompiler(p *generator) (entries []entry, _ int) {
	h, f := p.harness(), p.lostFlag()
	w := wording{
		[]string{"The build needs `" + f.flag + "`. Let me add it.", "The error says what is missing: `" + f.flag + "`."},
		[]string{"The flag does not seem to be used.", "Same error. The flag is not picked up.", "It still fails at the same place.", "Still the same linker or compiler message.", ""},
		[]string{"Let me set it in another place.", "I'll add the flag to the build file.", "Let me put `" + f.flag + "` where it is certainly read.", "Let me try to set it differently.", "Perhaps it has to stand before the target."},
	}
	for k := range p.repeats() {
		edit := f.edits[p.IntN(len(f.edits))]
		entries = append(entries, h.replace(edit[0], edit[1], edit[2]).after(w.of(p, k)), h.shell(p.pick(f.commands...), f.output(), p.pickInt(1, 2)).after(p.runAgain()))
	}
	return entries, 2
}

// slowBuild is a build that takes longer than a command may take.
type slowBuild struct {
	fresh, resumed []string
	line           func(n int) string // one line of its output; n is the number of a unit
	units          int
	end            string
}

// slowBuild returns a build of one large project.
func (p *generator) slowBuild() slowBuild {
	name, total := p.pick("pytorch", "llvm", "opencv", "caffe", "mesa", "qemu", "duckdb", "rocksdb"), p.between(200, 1400)
	parts, paths := p.distinctWords(40), make([]string, total+1)
	for n := range paths {
		paths[n] = parts[n*40/len(paths)] + "/" + parts[p.IntN(40)] + "_" + parts[p.IntN(40)]
	}
	switch p.IntN(3) {
	case 0:
		return slowBuild{
			[]string{"cd " + name + " && rm -rf build && cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build -j2", "rm -rf " + name + "/build && mkdir " + name + "/build && cd " + name + "/build && cmake .. && make -j4", "cd " + name + "/build && make clean && make -j$(nproc)"},
			[]string{"cd " + name + "/build && make -j2", "cmake --build " + name + "/build -j2"},
			func(n int) string {
				return fmt.Sprintf("[%3d%%] Building CXX object src/CMakeFiles/%s.dir/%s.cc.o", 100*n/total, name, paths[n])
			},
			total,
			"[100%] Built target " + name,
		}
	case 1:
		return slowBuild{
			[]string{"cargo clean && cargo build --release", "rm -rf target && cargo build --release -j 2", "cargo clean && cargo install --path . --locked"},
			[]string{"cargo build --release", "cargo build --release -j 2"},
			func(n int) string {
				return fmt.Sprintf("   Compiling %s v%d.%d.%d", strings.ReplaceAll(paths[n], "/", "-"), n%3, n%23, n%7)
			},
			total,
			"    Finished `release` profile [optimized] target(s)",
		}
	}
	return slowBuild{
		[]string{"rm -rf out && meson setup out && ninja -C out", "ninja -C out -t clean && ninja -C out", "rm -rf out && meson setup out --buildtype=release && ninja -C out -j 2"},
		[]string{"ninja -C out", "ninja -C out -j 2"},
		func(n int) string {
			return fmt.Sprintf("[%d/%d] Compiling C object lib%s.a.p/%s.c.o", n, total, name, paths[n])
		},
		total,
		fmt.Sprintf("[%d/%d] Linking target %s", total, total, name),
	}
}

// lines returns the output up to a percentage: its last lines, as a tool shows them that shortens long outputs.
func (b slowBuild) lines(p *generator, percent int) string {
	last := b.units * percent / 100
	lines := make([]string, p.between(3, 45))
	for k := range lines {
		lines[k] = b.line(max(1, last-len(lines)+k+1))
	}
	return strings.Join(slices.Compact(lines), "\n")
}

// outOfTime returns how a tool says that a command took too long.
func (p *generator) outOfTime(seconds int) string {
	return p.pick(fmt.Sprintf("Command timed out after %dm 0.0s", seconds/60), fmt.Sprintf("The command timed out after %d seconds and was killed.", seconds), fmt.Sprintf("timeout: sending signal TERM to command 'bash' after %ds", seconds))
}

// buildStartedOverAtEachTimeout wipes a build that ran out of time and builds from the start, and it runs out of time at the same point.
func buildStartedOverAtEachTimeout(p *generator) (entries []entry, _ int) {
	run, b, reached := p.patientShell(), p.slowBuild(), p.between(12, 70)
	limit := p.outOfTime(60 * p.pickInt(2, 5, 10))
	w := wording{
		[]string{"Let me build it.", "Now the build. This may take a while."},
		[]string{"The build was cut off by the time limit.", "It timed out before it was done.", "The build directory is incomplete.", "Still too slow.", ""},
		[]string{"Let me start from a clean tree.", "I'll clean up and build again.", "Let me rebuild with fewer options.", "Let me try the build once more.", "A fresh build should be more reliable."},
	}
	for k := range p.repeats() {
		entries = append(entries, run(p.pick(b.fresh...), b.lines(p, reached+p.IntN(3))+"\n"+limit, 124).after(w.of(p, k)))
	}
	return entries, 1
}

// tweak is a small change of a program.
type tweak struct{ name, before, after string }

// tweaks returns the file of a hot function, three changes of it, and its benchmark.
func (p *generator) tweaks() (file string, tweaks [3]tweak, command string, output func() string) {
	name, field, time := p.word()+"_"+p.word(), p.word()+p.pick("table", "cache", "list", "map", "buf"), 100+900*p.Float64()
	jitter := func() float64 { return time * (0.985 + 0.03*p.Float64()) }
	switch p.IntN(3) {
	case 0:
		all := []tweak{{"the inline attribute", "fn " + name + "(", "#[inline(always)]\nfn " + name + "("}, {"the capacity", "Vec::new()", "Vec::with_capacity(" + field + ".len())"}, {"an unchecked access", field + "[i]", "unsafe { *" + field + ".get_unchecked(i) }"}, {"another hasher", "HashMap::new()", "FxHashMap::default()"}, {"an iterator", "for i in 0.." + field + ".len() {", "for item in " + field + ".iter() {"}}
		p.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return "src/" + field + ".rs", [3]tweak(all[:3]), "cargo bench --bench " + name, func() string {
			return fmt.Sprintf("Benchmarking %[1]s\nBenchmarking %[1]s: Warming up for 3.0000 s\nBenchmarking %[1]s: Collecting 100 samples in estimated %.4[2]f s\n%[1]s    time:   [%.2[3]f ns %.2[4]f ns %.2[5]f ns]\n                        change: [-%.4[6]f%% +%.4[7]f%% +%.4[8]f%%] (p = 0.%02[9]d > 0.05)\n                        No change in performance detected.\nFound %[10]d outliers among 100 measurements", name, 5+p.Float64(), time*0.97, jitter(), time*1.03, p.Float64(), p.Float64(), 1+p.Float64(), p.between(10, 90), p.between(2, 14))
		}
	case 1:
		all := []tweak{{"a preallocated slice", "make([]byte, 0)", "make([]byte, 0, 4096)"}, {"a pool", "buf := new(bytes.Buffer)", "buf := pool.Get().(*bytes.Buffer)"}, {"a strings.Builder", field + " += part", field + ".WriteString(part)"}, {"a value receiver", "func (x *" + field + ")", "func (x " + field + ")"}, {"no defer", "defer mu.Unlock()", "mu.Unlock()"}}
		p.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		bench := "Benchmark" + capitalized(field)
		return "internal/" + field + "/" + field + ".go", [3]tweak(all[:3]), "go test -run '^$' -bench " + bench + " -count 10 ./internal/" + field + " > new.txt && benchstat old.txt new.txt", func() string {
			return fmt.Sprintf("goos: linux\ngoarch: amd64\n%sold.txt   │           new.txt            │\n%ssec/op   │   sec/op     vs base         │\n%s-2  %.1fn ± %d%%   %.1fn ± %d%%  ~ (p=0.%03d n=10)", strings.Repeat(" ", 14), strings.Repeat(" ", 14), strings.TrimPrefix(bench, "Benchmark"), time, p.between(1, 4), jitter(), p.between(1, 4), p.between(60, 990))
		}
	}
	all := []tweak{{"restrict", "const float *" + field, "const float *__restrict " + field}, {"loop unrolling", "for (size_t i = 0; i < n; ++i)", "#pragma GCC unroll 8\n  for (size_t i = 0; i < n; ++i)"}, {"-O3", "-O2", "-O3 -march=native"}, {"a prefetch", "acc += " + field + "[i];", "__builtin_prefetch(&" + field + "[i + 16]);\n    acc += " + field + "[i];"}, {"a branch hint", "if (" + field + " == 0)", "if (__builtin_expect(" + field + " == 0, 0))"}}
	p.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return "src/" + field + ".cc", [3]tweak(all[:3]), "cmake --build build -t bench && ./build/bench --benchmark_filter=" + name, func() string {
		return fmt.Sprintf("2026-06-%02dT%02d:%02d:%02d+00:00\nRun on (2 X %d MHz CPU s)\nLoad Average: %.2f, %.2f, %.2f\n-----------------------------------------------\nBenchmark              Time        CPU   Iterations\n-----------------------------------------------\nBM_%s/4096     %.0f ns    %.0f ns   %d\n(target: %.0f ns)", p.between(1, 28), p.IntN(24), p.IntN(60), p.IntN(60), 2_400+p.IntN(9), p.Float64(), p.Float64(), p.Float64(), name, jitter(), jitter(), p.between(1e5, 9e5), time*0.6)
	}
}

// sameTweaksBenchmarkedAgain makes three small changes, each of which is within the noise and is taken back, and then makes them again.
func sameTweaksBenchmarkedAgain(p *generator) (entries []entry, _ int) {
	h := harness{p, p.pickInt(claudeCode, gemini, openHands, sweAgent)} // a benchmark takes longer than the others tell
	file, tweaks, command, output := p.tweaks()
	undo := p.coin()
	w := wording{
		[]string{"Let me start with %s.", "First I try %s."},
		[]string{"No measurable gain.", "That is noise.", "Not faster.", "The benchmark did not move.", ""},
		[]string{"Let me try %s.", "Now %s.", "Maybe %s makes it faster.", "What about %s?", "Let me measure %s."},
	}
	last := 0
	for k := range 3 + p.laps() {
		n := k
		if k >= 3 {
			n = (last + 1 + p.IntN(2)) % 3
		}
		last = n
		t, words := tweaks[n], w.of(p, k)
		words.next = fmt.Sprintf(words.next, t.name)
		back := h.replace(file, t.after, t.before)
		if undo {
			back = h.shell("git checkout "+file, "Updated 1 path from the index", 0)
		}
		entries = append(entries, h.replace(file, t.before, t.after).after(words),
			h.shell(command, output(), 0).after(thought{p.pick("", "Measure it."), p.pick("Run the benchmark.", "Let me see the numbers.", "Benchmark again.")}),
			back.after(thought{p.pick("No improvement.", "Within the noise.", "No difference."), p.pick("I take it back.", "Reverting.", "Back to the original.")}))
	}
	return entries, 9
}

// sanitizerReport returns the file that a sanitizer names and its report about one defect; addresses and process ids differ from call to call.
func (p *generator) sanitizerReport() (path string, report func() string) {
	file, function, caller, tool, program := p.word(), p.word()+"_"+p.word(), p.word()+"_"+p.word(), p.IntN(3), p.word()+"_test"
	line, size := p.between(30, 700), p.pickInt(1, 4, 8, 16)
	address := func() string { return fmt.Sprintf("0x%012x", 0x602000000000+p.Int64N(1<<24)) }
	frames := func(pc func() string) string {
		text := fmt.Sprintf("    #0 %s in %s src/%s.c:%d\n    #1 %s in %s src/%s.c:%d\n", pc(), function, file, line, pc(), caller, file, line+40)
		for k, name := range p.distinctWords(p.between(1, 9)) {
			text += fmt.Sprintf("    #%d %s in run_%s tests/%s.c:%d\n", k+2, pc(), name, program, p.between(10, 400))
		}
		return text
	}
	code := func() string { return fmt.Sprintf("0x55%010x", p.Int64N(1<<40)) }
	return "src/" + file + ".c", func() string {
		pid, at := p.between(200, 90_000), address()
		switch tool {
		case 0:
			text := fmt.Sprintf("=================================================================\n==%d==ERROR: AddressSanitizer: heap-use-after-free on address %s at pc %s bp %s sp %s\nREAD of size %d at %s thread T0\n%sfreed by thread T0 here:\n%sSUMMARY: AddressSanitizer: heap-use-after-free src/%s.c:%d in %s", pid, at, code(), code(), code(), size, at, frames(code), frames(code), file, line, function)
			for range p.IntN(12) {
				text += fmt.Sprintf("\n  %s: fa fa fd fd fa fa 00 00 fa fa fd fd fa fa fd fa", address())
			}
			return text + fmt.Sprintf("\n==%d==ABORTING", pid)
		case 1:
			return fmt.Sprintf("==%[1]d== Memcheck, a memory error detector\n==%[1]d== Command: ./%[2]s\n==%[1]d== Invalid read of size %[3]d\n==%[1]d==    at 0x%[4]X: %[5]s (%[6]s.c:%[7]d)\n==%[1]d==    by 0x%[8]X: %[9]s (%[6]s.c:%[10]d)\n==%[1]d==  Address 0x%[11]x is %[12]d bytes inside a block of size 64 free'd\n==%[1]d== HEAP SUMMARY:\n==%[1]d==     in use at exit: %[13]d bytes in 3 blocks\n==%[1]d== ERROR SUMMARY: 1 errors from 1 contexts (suppressed: 0 from 0)", pid, program, size, p.between(1e6, 9e6), function, file, line, p.between(1e6, 9e6), caller, line+40, p.between(1e7, 9e7), size, p.between(100, 900))
		}
		return fmt.Sprintf("==================\nWARNING: ThreadSanitizer: data race (pid=%d)\n  Write of size %d at %s by thread T%d:\n%s\n  Previous read of size %d at %s by main thread:\n%sSUMMARY: ThreadSanitizer: data race src/%s.c:%d in %s\n==================\nThreadSanitizer: reported 1 warnings", pid, size, at, p.between(1, 8), frames(code), size, at, frames(code), file, line, function)
	}
}

// sanitizerReportUnmoved changes a program around a report of a sanitizer, and the report names the same line of the same function.
func sanitizerReportUnmoved(p *generator) (entries []entry, _ int) {
	h := p.harness()
	file, report := p.sanitizerReport()
	node, list := p.word(), p.word()
	lines := []string{"if (%s == NULL) return -1;", "%s->next = NULL;", "assert(%s != NULL);", "free(%s);", "%s = calloc(1, sizeof(*%[1]s));", "pthread_mutex_lock(&%s->lock);", "memset(%s, 0, sizeof(*%[1]s));", "%s->refs++;", "if (%s->refs > 0) %[1]s_put(%[1]s);", "/* %s is owned by the caller */"}
	build := p.pick("make -s test", "make asan && ./run_tests", "cmake --build build && ctest --test-dir build --output-on-failure", "make check V=0")
	w := wording{
		[]string{"The report points at `" + file + "`. Let me guard the access.", "Let me fix the lifetime of `" + node + "`."},
		[]string{"The sanitizer still reports it.", "The same access is reported.", "Still there.", "I see the issue now.", "It is reported at the same line.", ""},
		[]string{"Let me fix the ownership.", "Let me add a check before the access.", "I'll free it later.", "Let me handle it in the caller.", "Let me try another order."},
	}
	for k := range p.repeats() {
		pair := p.shuffled(slices.Clone(lines)...)
		before, after := fmt.Sprintf(pair[0], p.pick(node, list)), fmt.Sprintf(pair[1], p.pick(node, list))
		entries = append(entries, h.replace(file, "    "+before, "    "+after+p.pick("", "\n    "+before)).after(w.of(p, k)), h.shell(build, report(), p.pickInt(1, 2)).after(p.runAgain()))
	}
	return entries, 2
}
