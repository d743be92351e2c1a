; A first configuration that lies next to the installer goes in with it.
!macro customInstall
  ${If} ${FileExists} "$EXEDIR\config.json"
    CopyFiles /SILENT "$EXEDIR\config.json" "$INSTDIR\config.json"
  ${EndIf}
!macroend
