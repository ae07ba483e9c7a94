package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of coding agents that build and test apps for phones and desktops.

func appsLookalikes() []kind {
	return []kind{
		{name: "store_screenshots_taken_by_locale", build: storeScreenshotsTakenByLocale},
		{name: "manifest_conflicts_resolved_in_turn", build: manifestConflictsResolvedInTurn},
		{name: "addresses_symbolicated_in_turn", build: addressesSymbolicatedInTurn},
		{name: "flavors_assembled_in_turn", build: flavorsAssembledInTurn},
	}
}

// storeScreenshotsTakenByLocale starts an app in language after language and takes a picture of it; the commands print almost the same.
func storeScreenshotsTakenByLocale(p *generator) (entries []entry, _ int) {
	run, app, ios, screen := p.operator(), "com.example."+p.word(), p.coin(), p.pick("01_home", "02_search", "03_detail")
	wait := p.pick("", "sleep 3 && ", "sleep 5 && ")
	locales := p.shuffled("de-DE", "fr-FR", "es-ES", "it-IT", "ja-JP", "ko-KR", "pt-BR", "nl-NL", "sv-SE", "pl-PL", "tr-TR", "zh-CN")[:p.between(5, 12)]
	last := ""
	for _, locale := range locales {
		start, started := "adb shell 'am force-stop "+app+"; cmd locale set-app-locales "+app+" --locales "+locale+"; am start -W -n "+app+"/.MainActivity'", fmt.Sprintf("Starting: Intent { cmp=%s/.MainActivity }\nStatus: ok\nLaunchState: COLD\nActivity: %[1]s/.MainActivity\nTotalTime: %d\nWaitTime: %d\nComplete", app, p.between(600, 1400), p.between(1400, 1600))
		path := "fastlane/metadata/android/" + locale + "/images/phoneScreenshots/" + screen + ".png"
		shoot, shot := wait+"adb exec-out screencap -p > "+path, ""
		if ios {
			start, started = "xcrun simctl terminate booted "+app+"; xcrun simctl launch booted "+app+" -AppleLanguages '("+locale+")' -AppleLocale "+strings.Replace(locale, "-", "_", 1), fmt.Sprintf("%s: %d", app, p.between(9000, 90_000))
			path = "fastlane/screenshots/" + locale + "/" + screen + ".png"
			shoot, shot = wait+"xcrun simctl io booted screenshot "+path, "Detected file type from extension: PNG\nWrote screenshot to: "+path
		}
		entries = append(entries, run(start, started, 0).after(p.nextItem(last, locale)), run(shoot, shot, 0).after(thought{"", p.pick("", "Now the picture.", "Take the screenshot.")}))
		last = "the screenshot for " + locale
	}
	return append(entries, run("find fastlane -name '"+screen+".png' | wc -l", fmt.Sprint(len(locales)), 0).after(thought{"All languages are done.", "Let me count the files."})), 0
}

// manifestConflictsResolvedInTurn builds an app; each time the manifest of another library is in conflict and gets an override, until it builds.
func manifestConflictsResolvedInTurn(p *generator) (entries []entry, _ int) {
	h, app := p.patient(), p.word()
	command, file := p.pick("./gradlew :app:processDebugMainManifest", "./gradlew assembleDebug", "./gradlew :app:installDebug"), "app/src/main/AndroidManifest.xml"
	all := p.shuffled("allowBackup=true=false", "theme=@style/AppTheme=@style/Theme.AppCompat", "label=@string/app_name=@string/sdk_name", "icon=@mipmap/ic_launcher=@drawable/icon", "supportsRtl=false=true", "appComponentFactory=.AppFactory=androidx.core.app.CoreComponentFactory", "usesCleartextTraffic=false=true", "name=.App=androidx.multidex.MultiDexApplication", "fullBackupContent=false=@xml/backup", "networkSecurityConfig=@xml/network=@xml/sdk_network")
	w := wording{
		[]string{"Let me build the app first.", "First the build, to see what the new libraries bring."},
		[]string{"Another attribute is in conflict.", "That one is settled, here is the next.", "The next conflict.", "One further.", ""},
		[]string{"Let me override it.", "The same for this one.", "I'll replace this attribute too.", "We want our own value."},
	}
	held, replaced := "    <application", ""
	for k, attribute := range all[:p.between(4, 8)] {
		parts := strings.Split(attribute, "=")
		name, line, library := parts[0], p.between(12, 30), "com."+p.word()+":"+p.word()+fmt.Sprintf(":%d.%d.%d", p.between(1, 9), p.IntN(20), p.IntN(9))
		build := p.runAgain()
		if k == 0 {
			build = w.of(p, 0)
		}
		entries = append(entries, h.shell(command, fmt.Sprintf("> Task :app:processDebugMainManifest FAILED\n/src/%s/%s:%d:9-40 Error:\n\tAttribute application@%s value=(%s) from AndroidManifest.xml:%[3]d:9-40\n\tis also present at [%[6]s] AndroidManifest.xml:%[7]d:18-%[8]d value=(%[9]s).\n\tSuggestion: add 'tools:replace=\"android:%[4]s\"' to <application> element at AndroidManifest.xml:%[10]d:5-%[11]d:19 to override.\n\nFAILURE: Build failed with an exception.\n* What went wrong:\nExecution failed for task ':app:processDebugMainManifest'.\n> Manifest merger failed with multiple errors, see logs\n\nBUILD FAILED in %[12]ds", app, file, line, name, parts[1], library, p.between(9, 30), p.between(44, 70), parts[2], 10, 88, p.between(2, 30)), 1).after(build))
		replaced = strings.TrimPrefix(replaced+",android:"+name, ",")
		next := "    <application\n        tools:replace=\"" + replaced + "\""
		entries = append(entries, h.replace(file, held, next).after(w.of(p, k+1)))
		held = next
	}
	return append(entries, h.shell(command, fmt.Sprintf("BUILD SUCCESSFUL in %ds\n%d actionable tasks: %d executed", p.between(12, 90), 38, p.between(12, 38)), 0).after(p.runAgain())), 0
}

// addressesSymbolicatedInTurn asks for the function of one address of a crash report after the other.
func addressesSymbolicatedInTurn(p *generator) (entries []entry, _ int) {
	run, app, form := p.operator(), capitalized(p.word()), p.IntN(3)
	base, name := 0x102000000+p.Int64N(1<<24)&^0x3fff, strings.ToLower(app)
	files := p.distinctWords(3)
	at := base + 0x9000
	w := wording{
		[]string{"I'll start with the frame at the top.", "The report has bare addresses. Let me look up the first."},
		[]string{"That is inside our own code.", "A frame of a library.", "So it was called from there.", "One more frame is known.", ""},
		[]string{"Next frame.", "Now the caller.", "Who calls it?", "Let me look up the next address.", "The frame below."},
	}
	for k := range p.between(6, 14) {
		at += int64(p.between(40, 4000))
		file, line := files[p.IntN(3)], p.between(12, 640)
		command, output := fmt.Sprintf("atos -o %[1]s.app.dSYM/Contents/Resources/DWARF/%[1]s -arch arm64 -l 0x%[2]x 0x%[3]x", app, base, at), fmt.Sprintf("%s.%s(_:) (in %s) (%s.swift:%d)", capitalized(file), p.word(), app, capitalized(file), line)
		switch form {
		case 1:
			command, output = fmt.Sprintf("llvm-addr2line -C -f -e obj/local/arm64-v8a/lib%s.so 0x%x", name, at-base), fmt.Sprintf("%s::%s(int)\n/src/%s/cpp/%s.cc:%d", name, p.word()+"_"+p.word(), name, file, line)
		case 2:
			command, output = fmt.Sprintf("npx source-map dist/main.js.map --line 1 --column %d", at-base), fmt.Sprintf("{ source: 'webpack://%s/src/main/%s.ts', line: %d, column: %d, name: '%s' }", name, file, line, p.between(2, 60), p.word())
		}
		entries = append(entries, run(command, output, 0).after(w.of(p, k)))
	}
	return entries, 0
}

// flavorsAssembledInTurn builds one variant of an app after the other; each build succeeds and prints the same but for its name and times.
func flavorsAssembledInTurn(p *generator) (entries []entry, _ int) {
	h, sized, android := p.patient(), p.coin(), p.IntN(3) > 0
	var variants []string
	for _, brand := range p.distinctWords(p.between(3, 5)) {
		for _, stage := range []string{"staging", "release", "debug"}[:p.between(2, 3)] {
			variants = append(variants, brand+" "+stage)
		}
	}
	last, minute := "", p.between(8*60, 16*60)
	for _, variant := range variants {
		minute += p.between(1, 3)
		brand, stage, _ := strings.Cut(variant, " ")
		command, file := "./gradlew assemble"+capitalized(brand)+capitalized(stage), "app/build/outputs/apk/"+brand+"/"+stage+"/app-"+brand+"-"+stage+".apk"
		output := fmt.Sprintf("> Configure project :app\n> Task :app:package%s%s\n\nBUILD SUCCESSFUL in %ds\n%d actionable tasks: %d executed, %d up-to-date", capitalized(brand), capitalized(stage), p.between(14, 58), 94, 20+p.IntN(3), 72)
		if !android {
			command, file = "BRAND="+brand+" npx electron-builder --linux --x64 -c builder."+stage+".yml", "dist/"+brand+"-"+stage+".AppImage"
			output = fmt.Sprintf("  • electron-builder  version=24.13.3 os=6.5.0\n  • loaded configuration  file=builder.%s.yml\n  • packaging       platform=linux arch=x64 electron=31.2.0 appOutDir=dist/linux-unpacked\n  • building        target=AppImage arch=x64 file=%s", stage, file)
		}
		entries = append(entries, h.shell(command, output, 0).after(p.nextItem(last, "`"+strings.ReplaceAll(variant, " ", "-")+"`")))
		if sized {
			entries = append(entries, h.shell("ls -l "+file, fmt.Sprintf("-rw-r--r-- 1 ci ci %d Jun 11 %02d:%02d %s", p.between(18e6, 61e6), minute/60, minute%60, file), 0))
		}
		last = "the build of " + strings.ReplaceAll(variant, " ", "-")
	}
	return entries, 0
}
