; Made by `cargo xtask installer`; do not edit.
Unicode true
Name "Hermit 1.2.3"
OutFile "hermit-console-1.2.3-setup.exe"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\Hermit"
InstallDirRegKey HKCU "Software\Hermit" "InstallDir"
SetCompressor /SOLID lzma
LicenseData "LICENSE"
Page license
Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

Section "Hermit"
  SetOutPath "$INSTDIR"
  File "hermit-exec.exe"
  File "hermit.exe"
  File "hermit-verify.exe"
  File "LICENSE"
  File "licence-texts.txt"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateDirectory "$SMPROGRAMS\Hermit"
  CreateShortcut "$SMPROGRAMS\Hermit\Hermit console.lnk" "$SYSDIR\cmd.exe" '/k set "PATH=$INSTDIR;%PATH%"'
  WriteRegStr HKCU "Software\Hermit" "InstallDir" "$INSTDIR"
  WriteRegStr HKCU "Software\Microsoft\Windows\CurrentVersion\Uninstall\HermitConsole" "DisplayName" "Hermit (console)"
  WriteRegStr HKCU "Software\Microsoft\Windows\CurrentVersion\Uninstall\HermitConsole" "DisplayVersion" "1.2.3"
  WriteRegStr HKCU "Software\Microsoft\Windows\CurrentVersion\Uninstall\HermitConsole" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegDWORD HKCU "Software\Microsoft\Windows\CurrentVersion\Uninstall\HermitConsole" "NoModify" 1
  WriteRegDWORD HKCU "Software\Microsoft\Windows\CurrentVersion\Uninstall\HermitConsole" "NoRepair" 1
SectionEnd

Section "Uninstall"
  ; A service would go on looking for its program.
  nsExec::Exec '"$INSTDIR\hermit.exe" --no-input service remove'
  Pop $0
  Delete "$INSTDIR\hermit-exec.exe"
  Delete "$INSTDIR\hermit.exe"
  Delete "$INSTDIR\hermit-verify.exe"
  Delete "$INSTDIR\LICENSE"
  Delete "$INSTDIR\licence-texts.txt"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Hermit\Hermit console.lnk"
  RMDir "$SMPROGRAMS\Hermit"
  DeleteRegKey HKCU "Software\Microsoft\Windows\CurrentVersion\Uninstall\HermitConsole"
  DeleteRegKey HKCU "Software\Hermit"
  DetailPrint "Your tasks, keys and receipts stay where they are."
SectionEnd
